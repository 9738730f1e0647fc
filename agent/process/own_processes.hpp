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

/// How a process relates to us.
enum class kin : std::uint8_t {
  stranger,
  ourselves,
  ancestor,
  descendant,
  same_container,  ///< in our cgroup, or a descendant of our container's first process
  first_process,   ///< process 1: the pod's pause process, or the init of the machine
};

/// Recognizes processes that must never be taken for the workload. Allocates nothing.
class own_processes {
 public:
  /// Finds us and our ancestors. False if /proc does not show them.
  [[nodiscard]] bool refresh(const process_scan& processes);

  /// True if cgroups tell containers apart here: process 1 is in another cgroup than we.
  [[nodiscard]] bool cgroups_tell() const { return cgroups_tell_; }

  /// The text of our /proc/PID/cgroup.
  [[nodiscard]] std::string_view cgroups() const { return {own_.data(), own_size_}; }

  /// A partial answer without reading any file: whether it is process 1, we, or an ancestor.
  [[nodiscard]] kin in_line(pid_t pid) const;

  /// The whole answer; `cgroups` is the text of its /proc/PID/cgroup.
  [[nodiscard]] kin of(const process_stat& one, std::string_view cgroups,
                       const process_scan& processes) const;

  /// True if process 1 is us or an ancestor, and in the same container. If process 1 is not the
  /// machine's, we are in a container that sees only its own processes.
  [[nodiscard]] bool are_of_the_first() const { return container_root_ == 0 && !cgroups_tell_; }

  /// Our session and process group.
  [[nodiscard]] pid_t session() const { return session_; }
  [[nodiscard]] pid_t group() const { return group_; }

 private:
  /// Deeper than any real process tree.
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
