#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"

/// What happens to an election.
namespace tenure::core {

namespace event {

/// To a candidate: an earlier agent of this session has ended, and its guard has kept the workload
/// that it had started under `version`. It goes on if the store grants us that very term before
/// `stop_at`; otherwise it is stopped.
struct workload_found {
  core::version version = no_version;
  time_point stop_at{};   ///< as the guard has it
  time_point kill_at{};   ///< as the guard has it
  bool stopping = false;  ///< it was told to end
};

/// The agent is up; campaign, or watch.
struct started {
  /// An earlier agent had this session. It may have left a release unanswered, so whatever the
  /// session holds is released before the first campaign, unless `workload_found` came before:
  /// granted once more, such a term could be taken away by that release.
  bool session_was_used = false;
  /// The newest term that this session was granted. No grant up to it is believed, unless it is
  /// that very term and its workload was found.
  core::version last_term = no_version;
};

/// The store has granted the lease (or confirms that this session has it).
struct granted {
  attempt number{};
  core::version version = no_version;
  std::string sequencer{};
  duration ttl{};                 ///< as granted, which need not be as asked
  time_point sent_at{};           ///< before the first byte of the request left
  bool released_cleanly = false;  ///< the previous holder's workload is known to be dead
};

/// Somebody else holds it.
struct refused {
  attempt number{};
  /// When another try may succeed although nothing was released; `never`: the watch will tell.
  time_point retry_at = never;
};

/// The outcome of an acquire is unknown: it may or may not have happened.
struct acquire_unknown {
  attempt number{};
};

/// A renewal of the term of `version` was acknowledged. Sent by `session`.
struct renewed {
  core::version version = no_version;
  time_point sent_at{};
  duration ttl{};
};

/// The store's own word that the term of `version` is over. Never a time-out or a reset.
struct lost {
  core::version version = no_version;
  loss_reason why = loss_reason::revoked;
};

/// The watch shows this. The first one after a `watch` command is the state at that time.
struct observed {
  observation what;
};

/// The watch broke; what it would have shown is missing until it is up again.
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

/// The last process of the workload was *observed* to be gone, or it could not be started.
struct workload_exited {};

/// Nobody knows how long the end of what may be left of the workload takes: it hangs in the kernel,
/// where SIGKILL waits, or its guard does. Its lease is not renewed any more.
struct workload_stuck {};

/// What may be left of the workload is out of everybody's sight and reach. Its lease is neither
/// renewed nor released, and nothing is asked for, before it has run out.
struct workload_unseen {};

/// Health of the workload, after hysteresis.
struct workload_unhealthy {};
struct workload_healthy {};

/// The guard, without which no workload can be started, is about to end or has ended; another has
/// come. In between this member does not campaign.
struct guard_away {};
struct guard_back {};

/// Give the lease up, and stand aside for `aside` from then on (`duration::max()`: until
/// `resume`). With an `heir`, the others let that member come first, for a moment.
struct resign {
  duration aside{};
  std::string heir{};
};

/// Campaign again, at once; also if it stands aside because its workload was unhealthy.
struct resume {};

/// Stop the workload, release, end. There is no way back.
struct shutdown {
  loss_reason why = loss_reason::shutdown;
};

/// Nothing happened but time.
struct woke {};

/// The same, and the machine has slept for `lasted` of it. Comes before anything else that happens
/// after a sleep: a lease that would still hold without it ends as `suspended`.
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
