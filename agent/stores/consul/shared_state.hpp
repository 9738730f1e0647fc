#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/event_loop.hpp"
#include "stores/consul/cluster.hpp"
#include "stores/consul/codec.hpp"
#include "stores/consul/mirror.hpp"
#include "stores/consul/session_keeper.hpp"
#include "stores/consul/watcher.hpp"
#include "stores/store.hpp"

namespace tenure::stores::consul {

/// A term that is ours, as far as we know.
struct held_term {
  core::version version = core::no_version;
  std::string sequencer;
  std::string
      key;  ///< the key that our session locks: the lock key, or a contender's key of a semaphore
  std::string session;
  std::uint64_t index = 0;  ///< the key was written last at this index
  std::uint64_t lock_index = 0;
  std::string text;        ///< what the key says
  bool is_clean = false;   ///< nothing ran in the slot when it was granted
  std::uint32_t slot = 0;  ///< see core::holder
  /// How long Consul grants the lock key to nobody after the end of the session, as far as we know.
  core::duration lock_delay{};
  bool is_session_gone = false;  ///< Consul says so
};

/// The result of a consistent read of one election.
struct looked {
  mirror at;
  core::time_point sent_at{};  ///< just before the read left
};

/// The reply to a transaction.
struct transacted : transaction_reply {
  core::time_point sent_at{};  ///< just before the request left
};

/// What the parts of the store share: one agent's use of one cluster.
///
/// Used on its loop only. After `close`, no handler wrapped by `guarded` is called.
class shared_state {
 public:
  using read_handler = std::move_only_function<void(std::expected<looked, unknown>)>;
  using transaction_handler = std::move_only_function<void(std::expected<transacted, unknown>)>;

  shared_state(base::event_loop& where, const http::http_connector& connect, setup with,
               const std::vector<settings::endpoint>& servers, watcher::handlers on);

  /// Ends everything. Releases nothing.
  void close();
  [[nodiscard]] bool closed() const { return !alive_; }

  /// Reads the keys of one election, consistent.
  void read(core::election_index which, core::time_point deadline, read_handler then);

  /// Executes a transaction: all of its operations or none. One that only reads is consistent.
  void transact(const std::vector<operation>& what, core::time_point deadline,
                transaction_handler then, priority as = priority::other);

  /// The term of `own`, which Consul shows as ours, is held from now on.
  held_term& hold(core::election_index which, const slot_holder& own);

  /// The session of our places, if it is this one: it is that of no place any more. Nothing: it is
  /// another one.
  std::optional<kept_session> take_from_places(std::string_view id);

  /// Consul says that this session is gone.
  void session_is_gone(std::string_view id);

  /// "http://...: why", for what the present agent has answered.
  [[nodiscard]] unknown broken_reply(const malformed& what) const;

  [[nodiscard]] const settings::election& spec(core::election_index which) const {
    return with.elections[core::place(which)];
  }
  [[nodiscard]] const mirror& seen(core::election_index which) const {
    return mirrors[core::place(which)];
  }
  [[nodiscard]] std::optional<held_term>& held(core::election_index which) {
    return held_[core::place(which)];
  }

  /// True if no term can be ours any more. One that is lost counts no longer: nobody releases it.
  [[nodiscard]] bool holds_nothing() const;

  /// Wraps a handler so that it is not called after `close`.
  template <class Handler>
  auto guarded(Handler what) {
    return [alive = std::weak_ptr(alive_), what = std::move(what)](auto&&... arguments) mutable {
      if (!alive.expired()) what(std::forward<decltype(arguments)>(arguments)...);
    };
  }

  /// Calls `done` later: it must not be called from within the call that takes it.
  template <class Outcome>
  void answer(handler<Outcome> done, Outcome outcome) {
    loop.post(guarded([done = std::move(done), outcome = std::move(outcome)]() mutable {
      done(std::move(outcome));
    }));
  }

  /// The session of our places in line, as sure as that of a term after a renewal: it was made or
  /// renewed when that was sent, and no place had become a term by then that the watches have not
  /// shown. Nothing: no session is, or it is the session of a term now.
  std::optional<kept_session> of_places;
  /// The look of that renewal was not before this index, and has shown no term of ours: one up to
  /// here is over, also if the watch of a server that lags still shows it.
  std::uint64_t places_looked_at = 0;

  // In order of dependency.
  base::event_loop& loop;
  const setup with;
  own_run self;
  cluster agents;
  session_keeper sessions;
  session_keeper place_sessions;
  std::vector<mirror> mirrors;  ///< per election
  watcher watches;

 private:
  [[nodiscard]] bool may_hold(core::election_index which) const;

  std::vector<std::optional<held_term>> held_;  ///< per election
  /// Owned by this object alone; handlers check through it whether this object still exists.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores::consul
