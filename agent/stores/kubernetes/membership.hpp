#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stores/kubernetes/shared_state.hpp"

namespace tenure::stores::kubernetes {

/// An agent with more elections is not announced: its names would be most of what is written.
inline constexpr std::size_t most_announced = 100;

/// Our name in the list of members of each election: a Lease that we renew three times in its
/// duration. Others stop showing it once they have not seen it change for that duration. When a
/// namesake appears, we renew at once, so that it sees that we live.
///
/// Independent of who holds: failures are retried here and not reported. Also deletes the Leases of
/// members that nobody needs.
///
/// Used on its loop only. No handler is called after `close`.
class membership {
 public:
  explicit membership(shared_state& of)
      : shared_(of), timer_(of.loop), says_(of.with.elections.size()) {}

  /// Call when the cluster can be reached: announces us, unless that is under way or done.
  void appear();

  /// What we say of ourselves in this election from now on.
  void say(core::election_index which, const core::readiness& what);

  /// Call when the mirror of this election may show something new.
  void changed(core::election_index which);

  /// Removes our name, by the deadline or not at all. `done` is called in a later turn of the loop.
  void leave(core::time_point deadline, handler<release_outcome> done);

  void close();

 private:
  void keep();
  void keep(core::election_index which);
  void write(core::election_index which, const lease_object* known, bool may_repeat);
  void clean_up(core::election_index which);
  void take_away(core::election_index which, core::time_point deadline, int tries,
                 const std::function<void()>& gone);
  template <class Handler>
  auto guarded(Handler what);

  shared_state& shared_;
  base::timer timer_;
  std::vector<core::readiness> says_;  ///< by election
  bool appears_ = false;
  core::time_point kept_at_ = core::time_point::min();
  std::map<core::election_index, std::vector<std::string>> namesakes_;  ///< that were answered
  /// Owned by this object alone; handlers check through it whether this object still exists.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores::kubernetes
