#include "process/pidfd.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace tenure::process {

// System calls by number: glibc has wrappers from 2.36 on, and its header does not work in C++.

base::unique_fd open_pidfd(pid_t pid) {
  return base::unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

int send_signal(const base::unique_fd& process, int signo) {
  return ::syscall(SYS_pidfd_send_signal, process.get(), signo, nullptr, 0) == 0 ? 0 : errno;
}

}  // namespace tenure::process
