#pragma once

#include <sys/types.h>

#include <expected>
#include <optional>
#include <span>
#include <string_view>

namespace tenure::process {

/// The text of /proc/PID/`name`, read into `room`; an errno value if it cannot be read. Cut at the
/// end of `room`. Allocates nothing.
///
/// "cmdline" is memory of the process itself: reading it waits while the process holds its memory
/// locked, e.g. when it hangs in the kernel (state D). Other files do not wait.
[[nodiscard]] std::expected<std::string_view, int> read_proc(pid_t pid, const char* name,
                                                             std::span<char> room);

/// The target of the link /proc/PID/exe; EACCES if we may not look into the process.
[[nodiscard]] std::expected<std::string_view, int> read_executable(pid_t pid, std::span<char> room);

/// The users of a process. A process that executes a set-user-ID program has the effective user of
/// that file and the real user who started it.
struct process_users {
  uid_t real = 0;
  uid_t effective = 0;
};

/// Nothing if the process is gone or hidden from us. Allocates nothing.
[[nodiscard]] std::optional<process_users> users_of(pid_t pid);

}  // namespace tenure::process
