#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

#include "process/survivors.hpp"

namespace tenure::guard {

/// Everything that runs because the guard has started a command: its first process (the leader) and
/// all its descendants, in any process group or session. `workload_tree` is the real
/// implementation.
///
/// `agent` is the one child of the guard that does not belong to it; 0: none. Nothing here
/// allocates.
class process_tree {
 public:
  virtual ~process_tree() = default;

  /// Forks, and executes the command with this block of "KEY=VALUE\0" added to the environment.
  /// Returns 0 or an errno value; `exec_result` says whether the program was executed.
  /// Precondition: empty.
  [[nodiscard]] virtual int start(std::string_view environment) = 0;

  /// 0 if the program was executed, else an errno value. Nothing: not known yet.
  [[nodiscard]] virtual std::optional<int> exec_result() = 0;

  /// The leader was reaped.
  virtual void leader_reaped() = 0;

  /// True if no process is left but `agent`. False if that cannot be determined.
  [[nodiscard]] virtual bool empty(pid_t agent) = 0;

  /// Signals every process that can be reached now, except `agent`.
  virtual void signal_all(int signo, pid_t agent) = 0;

  /// SIGKILL to every process that can be reached now. `deep`: also to those below a process that
  /// SIGKILL has not ended, which reads every process of the machine.
  virtual void kill_all(pid_t agent, bool deep) = 0;

  /// Signals the leader's process group, if it still exists.
  virtual void signal_group(int signo, pid_t agent) = 0;

  /// No process is left: takes the terminal back and forgets the leader.
  virtual void finish() = 0;

  /// What SIGKILL has not ended.
  [[nodiscard]] virtual process::survivors living(pid_t agent) = 0;

  /// The leader's process id; 0 once it was reaped.
  [[nodiscard]] virtual pid_t leader() const = 0;
  /// True while it owns the terminal on stdin.
  [[nodiscard]] virtual bool has_terminal() const = 0;
};

}  // namespace tenure::guard
