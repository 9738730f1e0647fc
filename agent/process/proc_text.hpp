#pragma once

#include <sys/types.h>

#include <ctime>
#include <expected>
#include <optional>
#include <span>
#include <string_view>

#include "base/trusted_open.hpp"

namespace tenure::process {

/// The text of /proc/PID/`name`, read into `room`; an errno value if it cannot be read. Cut where
/// the room ends. Allocates nothing.
///
/// "cmdline" is memory of the process itself: reading it waits while the process holds its memory
/// locked, e.g. one that hangs in the kernel (state D). The others wait for nobody.
[[nodiscard]] std::expected<std::string_view, int> read_proc(pid_t pid, const char* name,
                                                             std::span<char> room);

/// What the link /proc/PID/exe says; EACCES without the right to look into the process.
[[nodiscard]] std::expected<std::string_view, int> read_executable(pid_t pid, std::span<char> room);

/// Who a process is to the kernel. One that executes a set-user-ID program has the effective user
/// of that file, and the real one of who has started it.
struct process_users {
  uid_t real = 0;
  uid_t effective = 0;
};

/// Nothing if it is gone, or hidden from us. Allocates nothing.
[[nodiscard]] std::optional<process_users> users_of(pid_t pid);

/// The text of a file that is what is asked for, read into `room`, and when it was written.
[[nodiscard]] std::expected<std::string_view, base::flaw> read_file(const char* path,
                                                                    const base::demands& asked,
                                                                    std::span<char> room,
                                                                    timespec& written);

}  // namespace tenure::process
