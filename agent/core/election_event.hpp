#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"

/// What happens to an election.
namespace tenure::core {

namespace event {

/// For a candidate: an earlier agent of this session has ended, and its guard still runs the
/// workload that was started under `version`. The workload continues if the store grants us the
/// same term before `stop_at`; otherwise it is stopped.
struct workload_found {
  core::version version = no_version;
  time_point stop_at{};   ///< as the guard has it
  time_point kill_at{};   ///< as the guard has it
  bool stopping = false;  ///< the guard is already stopping it
};

/// The agent has started: campaign, or only watch.
struct started {
  /// An earlier agent used this session, and one of its releases may still be carried out. A term
  /// granted now could be ended by that release, so everything the session holds is released before
  /// the first campaign, unless `workload_found` came first.
  bool session_was_used = false;
  /// The newest term that this session was granted. A grant that is not newer is not believed,
  /// unless it is for this term and its workload was found.
  core::version last_term = no_version;
};

/// The store has granted the lease, or confirms that this session holds it.
struct granted {
  attempt number{};
  core::version version = no_version;
  std::string sequencer{};
  duration ttl{};                 ///< as granted; may differ from the one asked for
  time_point sent_at{};           ///< just before the first byte of the request was sent
  bool released_cleanly = false;  ///< the previous holder's workload is known to be dead
  std::uint32_t slot = 0;         ///< see core::holder
};

/// Another member holds the lease.
struct refused {
  attempt number{};
  /// When another try may succeed without a release; `never`: the watch will show it.
  time_point retry_at = never;
};

/// The outcome of an acquire is unknown: it may or may not have happened.
struct acquire_unknown {
  attempt number{};
};

/// A renewal of the term of `version` was acknowledged. Sent by `lease_group`.
struct renewed {
  core::version version = no_version;
  time_point sent_at{};
  duration ttl{};
};

/// The store itself says that the term of `version` is over. Never a timeout or a reset.
struct lost {
  core::version version = no_version;
  loss_reason why = loss_reason::revoked;
  /// The store is known to grant nothing to others for so long after our session ended, which was
  /// after the last acknowledged send (Consul's lock-delay). Zero: nothing is known.
  duration room{};
};

/// The watch shows a state. The first one after a `watch` command is the state at that time.
struct observed {
  observation what;
};

/// The watch broke; changes are not seen until it is open again.
struct watch_failed {};

/// The release was carried out, or there was nothing left to release.
struct released {
  attempt number{};
};

/// The outcome of a release is unknown.
struct release_unknown {
  attempt number{};
};

/// The workload of the term of `version` runs.
struct workload_started {
  core::version version = no_version;
};

/// The last process of the workload was *observed* to be gone, or the workload could not be
/// started.
struct workload_exited {
  /// Its whole container is gone: that ends a doubt that `workload_unseen` began.
  bool with_container = false;
};

/// What may be left of the workload may take any time to end: it, or its guard, hangs in the
/// kernel, where SIGKILL has to wait. Its lease is not renewed any more.
struct workload_stuck {};

/// Nobody can see or signal what may be left of the workload. Its lease is neither renewed nor
/// released, and this member does not campaign before the lease has run out.
struct workload_unseen {};

/// The health of the workload changed, by `health_judge`.
struct workload_unhealthy {};
struct workload_healthy {};

/// The guard, without which no workload can be started, is ending or has ended; a guard is
/// connected again. In between this member does not campaign.
struct guard_away {
  /// `shutdown`: it was told to end, as all containers of a pod are that is deleted.
  loss_reason why = loss_reason::guard_gone;
};
struct guard_back {
  /// The newest term that agents of this guard were granted. As in `started`: a grant that is not
  /// newer is not believed, unless it is for this term and its workload was found.
  core::version last_term = no_version;
};

/// Release the lease, then stand aside for `aside` (`duration::max()`: until `resume`). With an
/// `heir`, the other members wait a moment so that it can take the lease first.
struct resign {
  duration aside{};
  std::string heir{};
};

/// Campaign again at once, even if this member stands aside because its workload was unhealthy.
struct resume {};

/// Stop the workload, release the lease, end. Cannot be undone.
struct shutdown {
  loss_reason why = loss_reason::shutdown;
};

/// Only time has passed.
struct woke {};

/// Time has passed, and the machine slept for `lasted` of it. Stepped at the instant of the first
/// event after a sleep, before that one: a lease that would still be valid without the sleep ends
/// as `suspended`. Nothing else that is due begins: the event that follows may be why it must not.
struct slept {
  duration lasted{};
};

}  // namespace event

using election_event = std::variant<
    event::workload_found, event::started, event::granted, event::refused, event::acquire_unknown,
    event::renewed, event::lost, event::observed, event::watch_failed, event::released,
    event::release_unknown, event::workload_started, event::workload_exited, event::workload_stuck,
    event::workload_unseen, event::workload_unhealthy, event::workload_healthy, event::guard_away,
    event::guard_back, event::resign, event::resume, event::shutdown, event::woke, event::slept>;

}  // namespace tenure::core
