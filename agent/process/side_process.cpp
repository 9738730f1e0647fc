#include "process/side_process.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "process/bare_call.hpp"

namespace tenure::process {
namespace {

/// What runs on it has no large variables.
constexpr std::size_t side_stack_bytes = 16 * 1024;

}  // namespace

void side_process::prepare(const char* name, work what, void* with) {
  name_ = name;
  work_ = what;
  with_ = with;
  stack_ = std::make_unique<std::byte[]>(side_stack_bytes);
}

int side_process::start() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  socket_.reset(ends[0]);
  const base::unique_fd other_end(ends[1]);
  its_socket_ = other_end.get();
  const pid_t child =
      ::clone(&side_process::run, stack_.get() + side_stack_bytes, shares_memory | SIGCHLD, this);
  if (child < 0) {
    const int error = errno;
    socket_.reset();
    return error;
  }
  pid_ = child;
  return 0;
}

bool side_process::send(std::string_view packet) {
  const auto put = [&] {
    return socket_ &&
           ::send(socket_.get(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
  };
  if (put()) return true;
  const bool is_alone = !socket_ || errno == EPIPE || errno == ECONNRESET;
  return is_alone && reap() && start() == 0 && put();
}

void side_process::kill() const {
  if (pid_ != 0) ::kill(pid_, SIGKILL);
}

bool side_process::reap() {
  if (pid_ != 0 && ::waitpid(pid_, nullptr, WNOHANG) != 0) pid_ = 0;
  return pid_ == 0;
}

// From here on: in the child.

int side_process::run(void* of) {
  const auto* const self = static_cast<const side_process*>(of);
  bare_call(SYS_prctl, PR_SET_NAME, self->name_);
  self->close_others();
  self->work_(self->with_, self->its_socket_);
  for (;;) bare_call(SYS_exit_group, 0);
}

/// A socket or a lock that it kept would look as if we held it after our end.
void side_process::close_others() const {
  // Linux 5.9. Before that: as far as descriptors have such numbers in practice.
  constexpr int in_practice = 4096;
  const auto close_from = [](unsigned first, unsigned last) {
    return first > last || bare_call(SYS_close_range, first, last, 0) == 0;
  };
  bare_call(SYS_close, STDIN_FILENO);
  bare_call(SYS_close, STDOUT_FILENO);
  constexpr unsigned first = STDERR_FILENO + 1;
  const auto kept = static_cast<unsigned>(its_socket_);
  if (close_from(first, kept - 1) && close_from(kept + 1, ~0U)) return;
  for (int fd = first; fd < in_practice; ++fd) {
    if (fd != its_socket_) bare_call(SYS_close, fd);
  }
}

}  // namespace tenure::process
