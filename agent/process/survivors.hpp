#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "process/process_scan.hpp"

/// What is left of a workload although it was killed.
namespace tenure::process {

/// Names of programs and of the kernel's functions, as they are passed on; cut, and zeros behind.
using program_name = std::array<char, 16>;
using kernel_function = std::array<char, 48>;

/// Processes that SIGKILL has not ended, and what /proc says of one of them: one that hangs, if any
/// does. Allocates nothing, and waits for nobody.
struct survivors {
  std::uint32_t left = 0;   ///< processes that are not dead
  std::uint32_t stuck = 0;  ///< of these: hang in the kernel (state D)
  pid_t pid = 0;            ///< of the one
  char state = 0;           ///< of the thread that hangs, or else of its first one
  program_name name{};
  kernel_function where{};  ///< in which it waits; empty if we may not know

  /// Counts this process, unless it is dead.
  void count(const process_scan& processes, pid_t one);

  /// Nobody of them can run anything of its own any more.
  [[nodiscard]] bool all_stuck() const { return left > 0 && stuck == left; }
};

/// SIGKILL to all that has come out of `ancestor`, however deep, but not to `except` (0: nobody)
/// nor to what has come out of that.
///
/// For what signals to children and to their groups do not reach: whoever is below a process that
/// hangs in the kernel stays there, in a session of its own perhaps, and runs on.
void kill_descendants(pid_t ancestor, pid_t except);

/// What lives of all that `kill_descendants` would kill.
[[nodiscard]] survivors living_descendants(pid_t ancestor, pid_t except);

/// The text before the first zero.
template <std::size_t N>
[[nodiscard]] std::string_view text(const std::array<char, N>& of) {
  const std::string_view all(of.data(), N);
  return all.substr(0, all.find('\0'));
}

}  // namespace tenure::process
