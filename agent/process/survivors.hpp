#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "process/process_scan.hpp"

/// Processes of a workload that SIGKILL has not ended.
namespace tenure::process {

/// Names of programs and of kernel functions, cut to size and padded with zeros.
using program_name = std::array<char, 16>;
using kernel_function = std::array<char, 48>;

/// Processes that SIGKILL has not ended, and what /proc shows of one of them: one that hangs, if
/// there is one. Allocates nothing and does not wait.
struct survivors {
  std::uint32_t left = 0;   ///< processes that are not dead
  std::uint32_t stuck = 0;  ///< how many of these hang in the kernel (state D)
  pid_t pid = 0;            ///< the one that is described
  char state = 0;           ///< the state of the thread that hangs, or else of its first thread
  program_name name{};
  kernel_function where{};  ///< in which it waits; empty if the kernel does not tell

  /// Counts this process unless it is dead.
  void count(const process_scan& processes, pid_t one);

  /// True if none of them can run code any more.
  [[nodiscard]] bool all_stuck() const { return left > 0 && stuck == left; }
};

/// Sends SIGKILL to all descendants of `ancestor`, except to those in `except` and their
/// descendants.
///
/// Reaches what signals to children and their groups do not: a process below one that hangs in the
/// kernel keeps its parent, perhaps in a session of its own, and runs on.
void kill_descendants(pid_t ancestor, std::span<const pid_t> except);

/// The living processes that `kill_descendants` would kill.
[[nodiscard]] survivors living_descendants(pid_t ancestor, std::span<const pid_t> except);

/// The text up to the first zero.
template <std::size_t N>
[[nodiscard]] std::string_view text(const std::array<char, N>& of) {
  const std::string_view all(of.data(), N);
  return all.substr(0, all.find('\0'));
}

}  // namespace tenure::process
