#include "guard/guard_fds.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstdlib>

#include "guard/guard_protocol.hpp"
#include "process/environment.hpp"

namespace tenure::guard {
namespace {

bool is_seqpacket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

/// False if `fd` is not open.
bool close_on_exec(int fd) {
  return ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

}  // namespace

bool fds_in_environment() {
  return std::getenv(process::guard_fds_variable) != nullptr;
}

std::expected<guard_fds, std::string> take_guard_fds() {
  const std::string name = process::guard_fds_variable;
  const char* value = std::getenv(process::guard_fds_variable);
  if (value == nullptr) {
    return std::unexpected(name + " is not set: this process was not started by a guard");
  }
  const std::string text = value;
  ::unsetenv(process::guard_fds_variable);
  int socket = -1;
  int page = -1;
  int worker_page = -1;
  const int found = std::sscanf(text.c_str(), "%d,%d,%d", &socket, &page, &worker_page);
  if (found < 2 || !close_on_exec(socket) || !close_on_exec(page) || !is_seqpacket(socket) ||
      (found == 3 && !close_on_exec(worker_page))) {
    return std::unexpected(name + "=" + text +
                           " does not name a guard's socket and pages; unset it, only a guard "
                           "sets it");
  }
  return guard_fds{.socket = base::unique_fd(socket),
                   .page = base::unique_fd(page),
                   .worker_page = base::unique_fd(worker_page)};
}

}  // namespace tenure::guard
