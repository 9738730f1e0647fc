#pragma once

#include <cstdint>
#include <optional>

namespace tenure::base {

/// The resources this process uses, as the kernel counts them.
struct process_usage {
  double cpu_seconds = 0;         ///< the time of all threads, in user and kernel mode
  double start_unix_seconds = 0;  ///< when it was started, on the wall clock
  std::uint64_t resident_bytes = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t threads = 0;
  std::uint64_t open_fds = 0;
  std::uint64_t max_fds = 0;  ///< the soft limit; the largest number if there is none
};

/// Reads it. Nothing if /proc is not mounted. Thread-safe.
std::optional<process_usage> read_process_usage();

}  // namespace tenure::base
