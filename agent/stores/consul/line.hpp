#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "stores/consul/membership.hpp"
#include "stores/consul/shared_state.hpp"

namespace tenure::stores::consul {

/// Our places in line: in each election in which we come next, what we say of ourselves in the list
/// of members names a session of ours. The holder that releases its lock locks the key for that
/// session in the same transaction, and so we hold without a write of our own; the watch shows
/// that, and `campaigns` takes it up. In all other elections we name none.
///
/// The places share a session of their own, renewed three times in its TTL:
///
/// - Only while the watches of all those elections are followed, and not after a look that has
///   shown a term of ours which they have not. Otherwise we might hold without knowing it, for
///   ever.
/// - With such a look at the same time, as for terms, so what is left of it is as sure as what is
///   left of a term (`shared_state::of_places`).
/// - A place that has become a term takes the session along. The other places then name another.
///
/// Nobody waits for any of it, and no failure is reported: without a place the next holder asks for
/// the lock when it is free. Sessions without a TTL are never named: one that is passed a lock when
/// its agent is dead would keep it for ever.
///
/// Used on the loop of the store only.
class line {
 public:
  line(shared_state& of, membership& names);

  /// Whether we are to stand in line in this election, from now on.
  void want(core::election_index which, bool in_line);

  /// The mirror of this election has changed, or is no longer followed.
  void changed(core::election_index which) { settle(which); }

  /// True if we have a place, or may have one, in this election.
  [[nodiscard]] bool may_stand(core::election_index which) const;

  /// Ends the session of the places, by the deadline or not at all. What was passed on to it since,
  /// and nothing has been started for, is released with that. `done` is called in any case.
  void leave(core::time_point deadline, std::move_only_function<void()> done);

  void close() { timer_.cancel(); }

 private:
  /// A renewal of the places' session.
  struct round {
    std::string session;
    std::optional<kept_or_failure> kept;
    std::optional<std::expected<transacted, unknown>> locks;
    std::uint64_t looked_at = 0;  ///< an index that the look at the locks was not before
  };

  [[nodiscard]] bool stands(core::election_index which) const;
  void settle(core::election_index which);
  void settle_all();
  void make_session();
  void renew();
  void ended(const round& what);
  void later();

  shared_state& shared_;
  membership& names_;
  std::vector<bool> wanted_;  ///< by election
  base::timer timer_;
  bool is_making_ = false;        ///< a session is asked for
  bool has_unseen_term_ = false;  ///< the last look has shown a term that the watch had not
};

}  // namespace tenure::stores::consul
