#pragma once

#include <optional>
#include <string>
#include <vector>

#include "guard/foreign_workload.hpp"
#include "guard/guard_listener.hpp"
#include "guard/guard_rules.hpp"
#include "guard/target.hpp"

/// The guard: the small process that owns the workload.
///
/// It starts the workload when the agent says so, and in `tenure exec` the agent, too; as the first
/// process of another container it lets agents in by a door. It holds two instants in a page that
/// it shares with the agent: at `stop_at` it asks the workload to end, at `kill_at` it ends every
/// process of it, whatever has become of the agent. It has one thread, never
/// waits for anything but `ppoll`, allocates nothing once it has started, and never talks to a
/// store.
namespace tenure::guard {

/// A workload that somebody else starts: found, told and killed, but not started.
struct foreign_options : foreign_rules {
  settings::target what;
};

struct guard_options : guard_rules {
  /// Arguments of the agent that the guard starts, from argv[0] on; the program is /proc/self/exe.
  /// Empty: agents come in by the door.
  std::vector<std::string> agent_argv;
  guard_listener::options door;
  /// The workload; looked up in PATH. Empty: it is `foreign`.
  std::vector<std::string> command;
  std::optional<foreign_options> foreign;
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

}  // namespace tenure::guard
