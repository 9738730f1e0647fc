#pragma once

#include <sys/types.h>

#include "base/unique_fd.hpp"

namespace tenure::process {

/// A descriptor of the process that has this id now; empty, with errno set, on failure. Readable
/// once the process is dead. An id can be reused, a pidfd cannot.
[[nodiscard]] base::unique_fd open_pidfd(pid_t pid);

/// Signals exactly that process. Returns 0 or an errno value; ESRCH if it is gone.
[[nodiscard]] int send_signal(const base::unique_fd& process, int signo);

}  // namespace tenure::process
