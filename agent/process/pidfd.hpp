#pragma once

#include <sys/types.h>

#include "base/unique_fd.hpp"

namespace tenure::process {

/// A descriptor of the process that has this number now; empty, with errno, if there is none to be
/// had. Readable once the process is dead. A number may be given to somebody else, this may not.
[[nodiscard]] base::unique_fd open_pidfd(pid_t pid);

/// Sends to exactly that process. Returns 0 or an errno value; ESRCH if it is gone.
[[nodiscard]] int send_signal(const base::unique_fd& process, int signo);

}  // namespace tenure::process
