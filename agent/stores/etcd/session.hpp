#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.hpp"
#include "stores/etcd/cluster.hpp"
#include "stores/etcd/layout.hpp"
#include "stores/etcd/lease_keeper.hpp"
#include "stores/etcd/mirror.hpp"
#include "stores/etcd/requests.hpp"
#include "stores/etcd/watcher.hpp"
#include "stores/store.hpp"

namespace tenure::stores::etcd {

/// A term that is ours, as far as we know.
struct held_term {
  core::version version = core::no_version;
  std::string key;
  std::int64_t lease = 0;
};

/// The raft term in which the quorum answered a linearizable read or a transaction, and the
/// endpoint that answered: it has applied an entry of this term.
struct quorum_view {
  std::uint64_t raft_term = 0;
  std::size_t endpoint = 0;  ///< for `cluster::prefer`
};

/// The result of a linearizable read of one election.
struct looked {
  mirror at;
  core::time_point sent_at{};  ///< just before the read left
  quorum_view by{};
};

/// What the parts of the store share: one agent's session with one cluster.
///
/// Used on its loop only. After `close`, no handler wrapped by `guarded` is called.
class session {
 public:
  using read_handler = std::move_only_function<void(std::expected<looked, unknown>)>;

  session(base::event_loop& where, const http::http_connector& connect, setup with,
          const std::vector<settings::endpoint>& servers, watcher::handlers on);

  /// Ends everything. Releases nothing.
  void close();
  [[nodiscard]] bool closed() const { return !alive_; }

  /// Reads the keys of one election, linearizable.
  void read(core::election_index which, core::time_point deadline, read_handler then);

  /// The mirror of an election that a reply shows.
  [[nodiscard]] mirror as_read(core::election_index which, std::span<const key_value> values,
                               std::uint64_t revision) const;

  /// Says whether this lease lives for its TTL, counted from the earlier of its `sent_at` and the
  /// sending of `look`. It may not if its keepalive was answered in an earlier raft term: the
  /// answer may come from a leader that had been replaced before either was sent, and nobody else
  /// knows of the renewal (decision 22). Later requests then go to the endpoint that gave `look`,
  /// which is further ahead.
  std::expected<void, unknown> believe(const kept_lease& lease, const quorum_view& look);

  /// "http://...: why", for what the present endpoint has answered.
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
  [[nodiscard]] const std::optional<held_term>& held(core::election_index which) const {
    return held_[core::place(which)];
  }

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

  /// Call when the watch has opened, for the first time or again: puts in doubt what was there
  /// before.
  void watch_had_gap();
  /// False if a word that was heard counts no longer: the watch is broken, and no term has been
  /// taken up by that word.
  [[nodiscard]] bool trusts_word(core::election_index which) const;

  /// True if a request of ours may still delete this key, or has deleted it.
  [[nodiscard]] bool may_go(core::election_index which, const contender& own) const {
    return own.create_revision == released[core::place(which)] ||
           own.create_revision == given_back[core::place(which)];
  }

  /// A new pair of keys for what is about to be written with this lease; returns the public one, as
  /// the seal has it. Empty if nobody is ever told. The last one of an election counts.
  std::string new_seal(core::election_index which, std::int64_t lease);
  /// The private one; nullptr if the last pair of this election was for another lease.
  [[nodiscard]] const std::string* secret(core::election_index which, std::int64_t lease) const;
  /// The key of the seal that was written with that lease; none if there is none.
  [[nodiscard]] std::vector<std::string> seals(core::election_index which,
                                               std::int64_t lease) const;

  /// The lease of our places in line, as sure as that of a term after a renewal; nothing: none is.
  std::optional<kept_lease> of_places;

  /// Per election: a key of this revision or an earlier one was written before the last gap in the
  /// watch. A restore may have brought it back, and versions that were granted meanwhile are larger
  /// than its own.
  std::vector<std::uint64_t> doubted_until;

  /// Per election: the revision of the key of ours that a release was sent for last. What the watch
  /// still shows of it means nothing.
  std::vector<std::uint64_t> released;

  /// Per election: the same of our place that was given back last.
  std::vector<std::uint64_t> given_back;

  // In order of dependency.
  base::event_loop& loop;
  const setup with;
  const std::vector<key_range> ranges;  ///< per election
  own_run self;
  cluster endpoints;
  lease_keeper leases;
  std::vector<mirror> mirrors;  ///< per election
  watcher connection;

 private:
  struct sealed_key {
    std::int64_t lease = 0;
    std::string secret;
  };

  std::vector<std::optional<held_term>> held_;  ///< per election
  std::vector<sealed_key> sealed_;              ///< per election
  /// Owned by this object alone; handlers check through it whether this object still exists.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores::etcd
