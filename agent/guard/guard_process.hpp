#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "guard/foreign_workload.hpp"
#include "guard/guard_listener.hpp"
#include "guard/guard_rules.hpp"
#include "guard/target.hpp"

/// The guard: the small process that owns the workload.
///
/// It starts the workload when the agent orders it, and in `tenure exec` also the agent; as the
/// first process of another container it accepts agents over a socket. It shares a page with the
/// agent that holds two instants: at `stop_at` it asks the workload to end, at `kill_at` it kills
/// every process of it, whether or not the agent still lives. It has one thread, waits only in
/// `ppoll`, allocates nothing once it has started, and never talks to a store.
namespace tenure::guard {

/// A workload that others start: the guard finds, signals and kills it.
struct foreign_options : foreign_rules {
  settings::target what;
};

/// Arguments of an agent, from argv[0] on; the program is /proc/self/exe.
using agent_argv = std::vector<std::string>;

struct guard_options : guard_rules {
  /// The agent that the guard starts, or the socket over which agents connect.
  std::variant<agent_argv, guard_listener::options> agents;
  /// The workload; looked up in PATH. Empty: the workload is `foreign`.
  std::vector<std::string> command;
  std::optional<foreign_options> foreign;
  /// Called once at the end of start-up; from then on the guard allocates nothing.
  void (*ready)() = nullptr;
};

/// The whole life of the guard; returns the status to exit with:
/// - after a bye: what the agent asked for, or the workload's own (128 + signal if one killed it,
///   126 or 127 if it could not be executed);
/// - the agent's own status if it ended by itself without a bye, e.g. 2 for bad configuration;
/// - with a socket: the workload's own if that ended by itself or was stopped by a signal to the
/// guard, 0 if nothing ran then;
/// - `exit_guard_unusable`, with the reason on stderr, if the guard could not start.
///
/// Call it first in main, while the process has one thread. It blocks signals and becomes subreaper
/// of its descendants, and undoes neither. Precondition: there is either a command or a foreign
/// workload; a foreign workload requires an agent that the guard starts.
[[nodiscard]] int run_guard(const guard_options& options);

}  // namespace tenure::guard
