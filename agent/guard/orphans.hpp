#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
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

/// A guard that had died before this process began, as its agents have described it.
struct dead_guard {
  std::string mark;         ///< the beginning of its workloads' mark, without the term
  std::string cgroups;      ///< its /proc/PID/cgroup
  std::uint64_t start = 0;  ///< ticks since boot
};

/// The text of /proc/PID/cgroup; an errno value if it cannot be read.
std::expected<std::string, int> cgroups_of(pid_t pid);

/// The workload as the agent can reach it without the guard's help.
///
/// While the guard exists, frozen or not, that is every child of the guard except the agent itself.
/// Once the guard is dead, it is the process group of the workload's first process, and every
/// process that has the mark of this start in its environment. If the guard was process 1 of a
/// container, the kernel kills the rest with it.
///
/// The environment of a process that has left that group may be hidden: it belongs to another user
/// and we may not read it (root without CAP_SYS_PTRACE), the process has none, or we lack
/// descriptors or memory to read it. If such a process is in the guard's cgroup, or below it, and
/// is younger than the workload, it may descend from the workload. It is not killed, because an
/// unrelated process may have been started there meanwhile; but the workload must not be reported
/// as dead while it lives. A process that is older, or elsewhere, does not descend from the
/// workload.
class orphans final : public visible_workload {
 public:
  /// `guard`: its process id, 0 if this process cannot see it.
  explicit orphans(pid_t guard);
  explicit orphans(dead_guard of);

  [[nodiscard]] bool in_sight() const override { return static_cast<bool>(guard_fd_); }
  [[nodiscard]] bool comes_by_itself() const override { return foreign_ != nullptr; }

  /// For a workload that the guard did not start: from now on it is found by this target. False,
  /// and nothing can be killed, if that is impossible here.
  [[nodiscard]] bool find_by(const settings::target& what);

  void follow(pid_t leader) override;
  void expect_mark(std::string mark) override;
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

  /// Unique: no other process ever has the same.
  struct process_id {
    pid_t pid;
    std::uint64_t start;
    friend bool operator==(const process_id&, const process_id&) = default;
  };

  std::unique_ptr<foreign_processes> foreign_;
  pid_t guard_;
  pid_t session_ = 0;  ///< the guard's session, in which it starts the workload
  pid_t leader_ = 0;
  std::string mark_;
  bool of_any_term_ = false;  ///< `mark_` is the beginning of the entry, not all of it
  std::string cgroups_;       ///< the guard's, from /proc; empty: unknown
  std::uint64_t began_ = 0;   ///< start of the workload, or else of the guard: ticks since boot
  std::vector<process_id> killed_;  ///< by their mark
  std::vector<process_id> hidden_;  ///< may belong to the workload, in the present look
  std::optional<std::vector<process_id>> doubted_;  ///< none: certain ones were still left
  // pidfds: an id can be reused, a pidfd cannot.
  base::unique_fd guard_fd_;
  base::unique_fd leader_fd_;
};

}  // namespace tenure::guard
