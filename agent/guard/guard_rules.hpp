#pragma once

#include <chrono>
#include <csignal>

#include "core/clock.hpp"

namespace tenure::guard {

/// Pause before an agent that crashed is started again; doubles up to `most_agent_pause`.
inline constexpr core::duration first_agent_pause = std::chrono::milliseconds(100);
inline constexpr core::duration most_agent_pause = std::chrono::seconds(5);
/// An agent that lived this long was well: its next crash starts with the first pause again.
inline constexpr core::duration agent_was_well = std::chrono::seconds(30);
/// How long an agent that has said bye may take to end before it is killed.
inline constexpr core::duration agent_bye_grace = std::chrono::seconds(5);

/// How a guard ends what it guards.
struct guard_rules {
  /// Sent to the workload when the agent does not name a signal.
  int stop_signal = SIGTERM;
  /// What the rest of the workload gets between the end of its first process and SIGKILL; also
  /// when the guard itself has to stop it. `kill_at` may cut it short.
  core::duration after_exit_grace = std::chrono::seconds(2);
  /// What the workload gets to end in when the guard with a door is told to end.
  core::duration drain = std::chrono::seconds(20);
};

}  // namespace tenure::guard
