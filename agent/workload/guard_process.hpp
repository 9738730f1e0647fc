#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "core/clock.hpp"

/// The guard: the small process that owns the workload.
///
/// It starts the agent and, when the agent says so, the workload; both are its children. It holds
/// one number, `kill_at` in the page that it shares with the agent, and ends every process of the
/// workload when that instant passes, whatever has become of the agent. It has one thread, never
/// waits for anything but `ppoll`, allocates nothing once it has started, and never talks to a
/// store.
namespace tenure::workload {

/// Exit statuses of the guard besides the workload's and the agent's own.
inline constexpr int exit_guard_unusable = 125;          ///< the guard itself could not start
inline constexpr int exit_command_not_executable = 126;  ///< as shells do
inline constexpr int exit_command_not_found = 127;       ///< as shells do

/// Pause before an agent that crashed is started again; doubles up to `most_agent_pause`.
inline constexpr core::duration first_agent_pause = std::chrono::milliseconds(100);
inline constexpr core::duration most_agent_pause = std::chrono::seconds(5);
/// An agent that lived this long was well: its next crash starts with the first pause again.
inline constexpr core::duration agent_was_well = std::chrono::seconds(30);
/// How long an agent that has said bye may take to end before it is killed.
inline constexpr core::duration agent_bye_grace = std::chrono::seconds(5);

struct guard_options {
  /// Arguments of the agent, from argv[0] on; the program is /proc/self/exe.
  std::vector<std::string> agent_argv;
  /// The workload; looked up in PATH.
  std::vector<std::string> command;
  /// Sent to the workload when the agent does not name a signal.
  int stop_signal = SIGTERM;
  /// What the rest of the workload gets between the end of its first process and SIGKILL; also
  /// when the guard itself has to stop it. `kill_at` may cut it short.
  core::duration after_exit_grace = std::chrono::seconds(2);
  /// Called once when start-up is over; from then on the guard allocates nothing.
  void (*ready)() = nullptr;
};

/// The whole life of the guard; returns the status to exit with:
/// - after a bye: what the agent asked for, or the workload's own (128 + signal if one killed it,
///   126 or 127 if it could not be executed);
/// - the agent's own status if it ended by itself without a bye, e.g. 2 for bad configuration;
/// - `exit_guard_unusable`, with the reason on stderr, if the guard could not start.
///
/// Call it first thing in main, while the process has one thread. It blocks signals, becomes
/// subreaper of its descendants and does not undo either. Precondition: neither argument vector
/// is empty.
[[nodiscard]] int run_guard(const guard_options& options);

}  // namespace tenure::workload
