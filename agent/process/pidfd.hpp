#pragma once

#include <sys/types.h>

#include "base/unique_fd.hpp"

namespace tenure::process {

/// A descriptor of the process that has this id now; empty, with errno set, on failure. Readable
/// once the process is dead. An id can be reused, a pidfd cannot.
[[nodiscard]] base::unique_fd open_pidfd(pid_t pid);

/// True if this descriptor is a pidfd, of whichever process.
[[nodiscard]] bool is_pidfd(const base::unique_fd& what);

/// False once every thread of it has ended, and for an empty descriptor.
[[nodiscard]] bool is_alive(const base::unique_fd& process);

/// Signals exactly that process. Returns 0 or an errno value; ESRCH if it is gone.
[[nodiscard]] int send_signal(const base::unique_fd& process, int signo);

}  // namespace tenure::process
