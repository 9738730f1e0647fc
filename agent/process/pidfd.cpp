#include "process/pidfd.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace tenure::process {

// System calls by number: glibc has wrappers from 2.36 on, and its header does not work in C++.

base::unique_fd open_pidfd(pid_t pid) {
  return base::unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool is_pidfd(const base::unique_fd& what) {
  // EINVAL: of a process in a namespace where we may not signal.
  return what && send_signal(what, 0) != EBADF;
}

bool is_alive(const base::unique_fd& process) {
  if (!process) return false;
  pollfd one{.fd = process.get(), .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 0;
}

int send_signal(const base::unique_fd& process, int signo) {
  return ::syscall(SYS_pidfd_send_signal, process.get(), signo, nullptr, 0) == 0 ? 0 : errno;
}

}  // namespace tenure::process
