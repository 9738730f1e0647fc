#pragma once

#include <sys/types.h>

#include "os/unique_fd.hpp"

namespace tenure::workload {

/// The workload as the agent can reach it without the guard's help.
///
/// While the guard exists, frozen or not, that is every child of it but the agent itself. Once it
/// is dead, it is the process group of the workload's first process; a process that left that
/// group can then no longer be told from a stranger. In a container that case does not exist: the
/// guard is process 1, and the kernel ends the rest with it.
class orphans {
 public:
  /// Precondition: this process is a child of the guard.
  orphans();

  /// The workload's first process, as the guard has just reported it.
  void follow(pid_t leader);
  void forget();

  /// Kills what it can find. True if there was nothing left to kill; call it until then.
  [[nodiscard]] bool kill_all();

 private:
  [[nodiscard]] bool guard_exists() const;
  [[nodiscard]] bool kill_children_of_guard();
  [[nodiscard]] bool kill_group();
  [[nodiscard]] bool leader_lives() const;

  pid_t guard_;
  pid_t leader_ = 0;
  os::unique_fd leader_fd_;  ///< a pidfd: a number may be given to somebody else, this may not
};

}  // namespace tenure::workload
