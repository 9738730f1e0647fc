#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "process/cgroup_text.hpp"
#include "process/process_scan.hpp"

namespace tenure::process {

/// Longest /proc/PID/cgroup that is read: about 20 hierarchies of version 1.
inline constexpr std::size_t most_cgroup_bytes = 8192;

/// How a process is related to us.
enum class kin : std::uint8_t {
  stranger,
  ourselves,
  ancestor,
  descendant,
  same_container,  ///< beside us: in our cgroup, or come out of our container's first process
  first_process,   ///< process 1: the pod's pause process, or the init of the machine
};

/// Who must never be taken for the workload. Allocates nothing.
class own_processes {
 public:
  /// Learns who we and our ancestors are. False if /proc does not tell.
  [[nodiscard]] bool refresh(const process_scan& processes);

  /// True if cgroups tell containers apart here: process 1 is in another one than we.
  [[nodiscard]] bool cgroups_tell() const { return cgroups_tell_; }

  /// The text of our /proc/PID/cgroup.
  [[nodiscard]] std::string_view cgroups() const { return {own_.data(), own_size_}; }

  /// What can be told without reading anything: whether it is process 1, we, or an ancestor.
  [[nodiscard]] kin in_line(pid_t pid) const;

  /// The whole answer; `cgroups` is the text of its /proc/PID/cgroup.
  [[nodiscard]] kin of(const process_stat& one, std::string_view cgroups,
                       const process_scan& processes) const;

  /// True if process 1 is we or an ancestor, and in no other container. Where process 1 is not
  /// the machine's, that is a container that sees nobody but its own processes.
  [[nodiscard]] bool are_of_the_first() const { return container_root_ == 0 && !cgroups_tell_; }

  /// The session and the process group that we are in.
  [[nodiscard]] pid_t session() const { return session_; }
  [[nodiscard]] pid_t group() const { return group_; }

 private:
  /// More than any shell nests.
  static constexpr std::size_t most_ancestors = 64;

  [[nodiscard]] bool came_out_of(const process_stat& one, pid_t ancestor,
                                 const process_scan& processes) const;

  pid_t self_ = 0;
  pid_t session_ = 0;
  pid_t group_ = 0;
  std::array<pid_t, most_ancestors> ancestors_{};
  std::size_t ancestors_used_ = 0;
  pid_t container_root_ = 0;  ///< our container's first process in a shared namespace; 0: unknown
  bool cgroups_tell_ = false;
  std::size_t own_size_ = 0;
  std::array<char, most_cgroup_bytes> own_{};
  std::array<char, most_cgroup_bytes> first_{};
};

}  // namespace tenure::process
