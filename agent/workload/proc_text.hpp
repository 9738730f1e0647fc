#pragma once

#include <sys/types.h>

#include <ctime>
#include <expected>
#include <span>
#include <string_view>

namespace tenure::workload {

/// The text of /proc/PID/`name`, read into `room`; an errno value if it cannot be read. Cut where
/// the room ends. Allocates nothing.
///
/// "cmdline" is memory of the process itself: reading it waits while the process holds its memory
/// locked, e.g. one that hangs in the kernel (state D). The others wait for nobody.
[[nodiscard]] std::expected<std::string_view, int> read_proc(pid_t pid, const char* name,
                                                             std::span<char> room);

/// What the link /proc/PID/exe says; EACCES without the right to look into the process.
[[nodiscard]] std::expected<std::string_view, int> read_executable(pid_t pid, std::span<char> room);

/// The text of a regular file, read into `room`; an errno value if it cannot be read, EINVAL for
/// what is no regular file: a pipe would let us wait.
[[nodiscard]] std::expected<std::string_view, int> read_file(const char* path, std::span<char> room,
                                                             timespec& written);

}  // namespace tenure::workload
