#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>

#include "os/unique_fd.hpp"
#include "workload/foreign_processes.hpp"

namespace tenure::workload {

/// The workload as the agent can reach it without the guard's help.
///
/// While the guard exists, frozen or not, that is every child of it but the agent itself. Once it
/// is dead, it is the process group of the workload's first process, and every process that has
/// the mark of this start in its environment. One that has left both can then no longer be told
/// from a stranger. Where the guard is process 1 of a container that case does not exist: the
/// kernel ends the rest with it.
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
  /// "NAME=VALUE", which the workload was started with.
  void expect_mark(std::string mark) { mark_ = std::move(mark); }
  void forget();

  /// Kills what it can find. True if there was nothing left to kill; call it until then.
  /// Precondition: in sight.
  [[nodiscard]] bool kill_all();

 private:
  [[nodiscard]] bool guard_exists() const;
  [[nodiscard]] bool kill_children_of_guard();
  [[nodiscard]] bool kill_group();
  [[nodiscard]] bool kill_marked();

  std::unique_ptr<foreign_processes> foreign_;
  pid_t guard_;
  pid_t session_ = 0;  ///< the guard's, in which it starts the workload
  pid_t leader_ = 0;
  std::string mark_;
  // pidfds: a number may be given to somebody else, these may not.
  os::unique_fd guard_fd_;
  os::unique_fd leader_fd_;
};

}  // namespace tenure::workload
