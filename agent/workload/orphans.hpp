#pragma once

#include <sys/types.h>

#include <memory>

#include "os/unique_fd.hpp"
#include "workload/foreign_processes.hpp"

namespace tenure::workload {

/// The workload as the agent can reach it without the guard's help.
///
/// While the guard exists, frozen or not, that is every child of it but the agent itself. Once it
/// is dead, it is the process group of the workload's first process; a process that left that
/// group can then no longer be told from a stranger. Where the guard is process 1 of a container
/// that case does not exist: the kernel ends the rest with it.
class orphans {
 public:
  /// `guard`: its process id, 0 if this process cannot see it.
  explicit orphans(pid_t guard);

  /// False in another container: nothing can be found there, and nobody's death be seen.
  [[nodiscard]] bool in_sight() const { return static_cast<bool>(guard_fd_); }

  /// The guard did not start the workload, so it is found in another way, for good. False, and
  /// nothing can be killed, if that is impossible here.
  [[nodiscard]] bool find_by(const target& what);

  /// The workload's first process, as the guard has just reported it.
  void follow(pid_t leader);
  void forget();

  /// Kills what it can find. True if there was nothing left to kill; call it until then.
  /// Precondition: in sight.
  [[nodiscard]] bool kill_all();

 private:
  [[nodiscard]] bool guard_exists() const;
  [[nodiscard]] bool kill_children_of_guard();
  [[nodiscard]] bool kill_group();
  [[nodiscard]] bool leader_lives() const;

  std::unique_ptr<foreign_processes> foreign_;
  pid_t guard_;
  pid_t session_ = 0;  ///< the guard's, in which it starts the workload
  pid_t leader_ = 0;
  // pidfds: a number may be given to somebody else, these may not.
  os::unique_fd guard_fd_;
  os::unique_fd leader_fd_;
};

}  // namespace tenure::workload
