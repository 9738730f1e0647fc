#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "guard/foreign_processes.hpp"
#include "guard/guard_access.hpp"
#include "process/process_scan.hpp"

namespace tenure::guard {

/// The workload as the agent can reach it without the guard's help.
///
/// While the guard exists, frozen or not, that is every child of it but the agent itself. Once it
/// is dead, it is the process group of the workload's first process, and every process that has
/// the mark of this start in its environment. Where the guard is process 1 of a container the
/// kernel ends the rest with it.
///
/// A process that has left that group may hide its environment: it belongs to another user and we
/// may not look (root without CAP_SYS_PTRACE), or it has none. What cannot be looked at for want of
/// descriptors or memory hides, too. If it is in the guard's cgroup, or
/// below that, and is younger than the workload, it may have come out of it. It is not killed,
/// because a stranger may have been started there meanwhile; but nobody may say that the workload
/// is dead while it lives. One that is older, or elsewhere, did not come out of it.
class orphans final : public visible_workload {
 public:
  /// `guard`: its process id, 0 if this process cannot see it.
  explicit orphans(pid_t guard);

  [[nodiscard]] bool in_sight() const override { return static_cast<bool>(guard_fd_); }

  /// The guard did not start the workload, so it is found in another way, for good. False, and
  /// nothing can be killed, if that is impossible here.
  [[nodiscard]] bool find_by(const settings::target& what);

  void follow(pid_t leader) override;
  void expect_mark(std::string mark) override { mark_ = std::move(mark); }
  void forget() override;
  [[nodiscard]] remains kill_all() override;
  [[nodiscard]] process::survivors doubtful() const override;

 private:
  [[nodiscard]] bool guard_exists() const;
  [[nodiscard]] bool kill_children_of_guard();
  [[nodiscard]] bool kill_group();
  [[nodiscard]] bool kill_marked();
  [[nodiscard]] bool may_be_of_it(const process::process_stat& one) const;
  [[nodiscard]] remains judge_hidden();

  /// A name that no other process ever has.
  struct process_id {
    pid_t pid;
    std::uint64_t start;
    friend bool operator==(const process_id&, const process_id&) = default;
  };

  std::unique_ptr<foreign_processes> foreign_;
  pid_t guard_;
  pid_t session_ = 0;  ///< the guard's, in which it starts the workload
  pid_t leader_ = 0;
  std::string mark_;
  std::string cgroups_;             ///< the guard's, as /proc shows them; empty: unknown
  std::uint64_t began_ = 0;         ///< the workload, or else the guard: ticks since boot
  std::vector<process_id> hidden_;  ///< may be of it, in the look that is under way
  std::optional<std::vector<process_id>> doubted_;  ///< none: something certain was still left
  // pidfds: a number may be given to somebody else, these may not.
  base::unique_fd guard_fd_;
  base::unique_fd leader_fd_;
};

}  // namespace tenure::guard
