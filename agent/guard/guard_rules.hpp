#pragma once

#include <chrono>
#include <csignal>

#include "core/clock.hpp"

namespace tenure::guard {

/// Pause before a crashed agent is restarted; doubles up to `most_agent_pause`.
inline constexpr core::duration first_agent_pause = std::chrono::milliseconds(100);
inline constexpr core::duration most_agent_pause = std::chrono::seconds(5);
/// After an agent has lived this long, its next crash starts with the first pause again.
inline constexpr core::duration agent_was_well = std::chrono::seconds(30);
/// How long an agent may take to end after its bye before it is killed.
inline constexpr core::duration agent_bye_grace = std::chrono::seconds(5);

/// How a guard ends its workload.
struct guard_rules {
  /// Sent to the workload when the agent does not name a signal.
  int stop_signal = SIGTERM;
  /// The time between the end of the workload's first process and SIGKILL to the rest; also used
  /// when the guard itself has to stop the workload. `kill_at` may cut it short.
  core::duration after_exit_grace = std::chrono::seconds(2);
  /// The time the workload gets to end when a guard with a socket is asked to end.
  core::duration drain = std::chrono::seconds(20);
};

}  // namespace tenure::guard
