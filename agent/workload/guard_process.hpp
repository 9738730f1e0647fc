#pragma once

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "workload/guard_door.hpp"
#include "workload/target.hpp"

/// The guard: the small process that owns the workload.
///
/// It starts the workload when the agent says so, and in `tenure exec` the agent, too; as the first
/// process of another container it lets agents in by a door. It holds two instants in a page that
/// it shares with the agent: at `stop_at` it asks the workload to end, at `kill_at` it ends every
/// process of it, whatever has become of the agent. It has one thread, never
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

/// A workload that somebody else starts: found, told and killed, but not started.
struct foreign_options {
  target what;
  bool may_run_on_standby = false;  ///< false: whatever runs without a lease is stopped
  int gain_signal = 0;              ///< tells it that it is active now; 0: nothing does
};

struct guard_options {
  /// Arguments of the agent that the guard starts, from argv[0] on; the program is /proc/self/exe.
  /// Empty: agents come in by the door.
  std::vector<std::string> agent_argv;
  guard_door::options door;
  /// The workload; looked up in PATH. Empty: it is `foreign`.
  std::vector<std::string> command;
  std::optional<foreign_options> foreign;
  /// Sent to the workload when the agent does not name a signal.
  int stop_signal = SIGTERM;
  /// What the rest of the workload gets between the end of its first process and SIGKILL; also
  /// when the guard itself has to stop it. `kill_at` may cut it short.
  core::duration after_exit_grace = std::chrono::seconds(2);
  /// What the workload gets to end in when the guard with a door is told to end.
  core::duration drain = std::chrono::seconds(20);
  /// Called once when start-up is over; from then on the guard allocates nothing.
  void (*ready)() = nullptr;
};

/// The whole life of the guard; returns the status to exit with:
/// - after a bye: what the agent asked for, or the workload's own (128 + signal if one killed it,
///   126 or 127 if it could not be executed);
/// - the agent's own status if it ended by itself without a bye, e.g. 2 for bad configuration;
/// - with a door: the workload's own if that ended by itself or was stopped by a signal to the
///   guard, 0 if nothing ran then;
/// - `exit_guard_unusable`, with the reason on stderr, if the guard could not start.
///
/// Call it first thing in main, while the process has one thread. It blocks signals, becomes
/// subreaper of its descendants and does not undo either. Precondition: there is either a command
/// or a foreign workload, and either an agent or a door; a foreign one comes with an agent.
[[nodiscard]] int run_guard(const guard_options& options);

}  // namespace tenure::workload
