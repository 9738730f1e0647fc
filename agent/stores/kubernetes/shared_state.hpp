#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.hpp"
#include "stores/kubernetes/cluster.hpp"
#include "stores/kubernetes/codec.hpp"
#include "stores/kubernetes/mirror.hpp"
#include "stores/kubernetes/watcher.hpp"
#include "stores/store.hpp"

namespace tenure::stores::kubernetes {

/// A term that is ours, as far as we know.
struct held_term {
  core::version version = core::no_version;
  std::string sequencer;
  std::string uid;  ///< the uid of its Lease
  std::uint32_t slot = 0;
  bool is_clean = false;  ///< nothing ran in the slot when it was granted
  /// The agent has the answer to a renewal, so its guard counts on our ttl. Before
  /// that it may be counting on a longer one, of the agent whose term was adopted: the Lease is not
  /// shortened.
  bool is_renewed = false;
  /// The newest renewTime that we have written. A store that was restored shows an older one, and a
  /// Go program that has seen ours takes the same second for no renewal.
  std::int64_t newest_renewal_ms = 0;
};

/// The state of a Lease on which the last write of a call relied.
class reliance {
 public:
  /// False if the last write has relied on this state, too, in vain: who shows it once more is
  /// behind, e.g. a cache that knows a time before a restore, and goes on to show it. `lease`: null
  /// if there is to be none.
  [[nodiscard]] bool moves_on_to(const std::string& name, const lease_object* lease) {
    std::pair next(name, lease == nullptr ? 0 : lease->resource_version);
    if (last_ == next) return false;
    last_ = std::move(next);
    return true;
  }

 private:
  std::optional<std::pair<std::string, std::uint64_t>> last_;
};

/// A Lease as a write has left it.
struct written_lease {
  lease_object lease;
  core::time_point sent_at{};  ///< just before the request left
};

/// What the parts of the store share: one agent's use of one cluster.
///
/// Used on its loop only. After `close`, no handler wrapped by `guarded` is called.
class shared_state {
 public:
  using read_handler = std::move_only_function<void(std::expected<void, unknown>)>;
  using write_handler = std::move_only_function<void(std::expected<written_lease, call_failure>)>;

  shared_state(base::event_loop& where, const http::http_connector& connect, setup with,
               const std::vector<settings::endpoint>& servers, watcher::handlers on);

  /// Ends everything. Releases nothing.
  void close();
  [[nodiscard]] bool closed() const { return !alive_; }

  /// Reads all Leases of one election, linearizable, into its mirror.
  void read(core::election_index which, core::time_point deadline, read_handler then);

  /// Writes the Lease of this election with this name if it is as `seen`, or makes it if that is
  /// null.
  void write(core::election_index which, const std::string& name, const lease_object* seen,
             const spec_change& spec, const note_change& notes, core::time_point deadline,
             write_handler then);

  /// POST of a Lease of this election with this name, and into its mirror.
  void create(core::election_index which, const std::string& name, const spec_change& spec,
              const note_change& notes, core::time_point deadline, write_handler then);

  /// PATCH of a Lease if it is as `seen`, and into the mirror.
  void change(core::election_index which, const lease_object& seen, const spec_change& spec,
              const note_change& notes, core::time_point deadline, write_handler then,
              priority as = priority::other);

  /// DELETE of a Lease if it is as `seen`. It leaves the mirror with the watch.
  void remove(const lease_object& seen, core::time_point deadline, cluster::done_handler then);

  /// GET of one Lease: nothing if there is none.
  void fetch(
      core::election_index which, const std::string& name, core::time_point deadline,
      std::move_only_function<void(std::expected<std::optional<lease_object>, call_failure>)> then,
      priority as = priority::other);

  /// Our term in `slot` is held from now on.
  held_term& hold(core::election_index which, std::uint32_t slot, core::version version,
                  const lease_object& lease);
  void let_go(core::election_index which);
  /// The agent campaigns or releases, so nothing runs by a term that it was told is over: other
  /// Leases that name us may be taken up or released from now on.
  void let_go_of_lost(core::election_index which);
  /// The agent is told this: a term of ours that it does not show as ours is over.
  void note_shown(core::election_index which, const core::observation& shown);

  /// "http://...: why", for what the present server has answered.
  [[nodiscard]] unknown broken_reply(const malformed& what) const;
  /// It shows this Lease as no write finds it.
  [[nodiscard]] unknown stale_reply(const std::string& name) const;

  [[nodiscard]] const settings::election& spec(core::election_index which) const {
    return with.elections[core::place(which)];
  }
  [[nodiscard]] mirror& seen(core::election_index which) { return mirrors[core::place(which)]; }
  [[nodiscard]] std::optional<held_term>& held(core::election_index which) {
    return held_[core::place(which)];
  }

  /// How long our Leases last, and others wait.
  [[nodiscard]] std::int64_t ttl_s() const { return ttl_s_; }
  /// What we write as holder.
  [[nodiscard]] std::string signature() const;

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

 private:
  struct reading;
  void list(core::election_index which, part its, const std::shared_ptr<reading>& all);
  void wrote(core::election_index which, const std::string& name, const reply_or_failure& what,
             write_handler then, const std::function<bool(const lease_object&)>& is_expected);
  void learned(core::election_index which);
  [[nodiscard]] annotations labels_of(core::election_index which, const std::string& name) const;

 public:
  // In order of dependency.
  base::event_loop& loop;
  const setup with;
  own_run self;
  const std::string path;  ///< where the Leases of our namespace are
  cluster servers;
  std::vector<mirror> mirrors;  ///< per election
  watcher watches;

 private:
  std::int64_t ttl_s_;
  std::function<void(core::election_index)> changed_;
  std::vector<std::optional<held_term>> held_;  ///< per election
  /// Owned by this object alone; handlers check through it whether this object still exists.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores::kubernetes
