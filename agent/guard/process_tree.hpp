#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

#include "process/survivors.hpp"

namespace tenure::guard {

/// Everything that runs because the guard has started a command: its first process (the leader),
/// and whatever came out of it, in whichever process group or session it now is. `workload_tree`
/// is the real one.
///
/// `agent` is the one child of the guard that does not belong; 0: there is none. Nothing here
/// allocates.
class process_tree {
 public:
  virtual ~process_tree() = default;

  /// Forks, and executes the command with this block of "KEY=VALUE\0" added to the environment.
  /// Returns 0 or an errno value. Whether the program was executed is said by `exec_result`.
  /// Precondition: empty.
  [[nodiscard]] virtual int start(std::string_view environment) = 0;

  /// 0 if the program runs, else an errno value. Nothing: not known yet.
  [[nodiscard]] virtual std::optional<int> exec_result() = 0;

  /// The leader was reaped.
  virtual void leader_reaped() = 0;

  /// True if no process is left but `agent`. If that cannot be found out, something counts as left.
  [[nodiscard]] virtual bool empty(pid_t agent) = 0;

  /// Sends to all of it that can be reached now. `agent` is left alone.
  virtual void signal_all(int signo, pid_t agent) = 0;

  /// SIGKILL to all of it that can be reached now; `deep`: also to what is below a process that has
  /// not ended by that, which costs a look at every process there is.
  virtual void kill_all(pid_t agent, bool deep) = 0;

  /// Sends to the leader's process group, if it still exists.
  virtual void signal_group(int signo, pid_t agent) = 0;

  /// Nothing is left: takes the terminal back and forgets the leader.
  virtual void finish() = 0;

  /// What SIGKILL has not ended.
  [[nodiscard]] virtual process::survivors living(pid_t agent) = 0;

  /// 0 once it was reaped.
  [[nodiscard]] virtual pid_t leader() const = 0;
  /// True while the terminal on stdin was handed to it.
  [[nodiscard]] virtual bool has_terminal() const = 0;
};

}  // namespace tenure::guard
