#include "guard/agent_process.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "guard/guard_protocol.hpp"
#include "process/environment.hpp"
#include "process/exec_child.hpp"

namespace tenure::guard {
void agent_process::prepare(const std::vector<std::string>& argv, bool keeps_hup_ignored) {
  keeps_hup_ignored_ = keeps_hup_ignored;
  arguments_ = argv;
  arguments_.front() = agent_name;
  argv_ = process::pointers_to(arguments_);
  environment_ = process::own_environment();
  environment_.insert(environment_.end(), {fds_.data(), nullptr});
}

std::expected<pid_t, const char*> agent_process::launch() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return std::unexpected(
        "cannot create a socket pair for the agent; check the limits on open files");
  }
  socket_.attach(base::unique_fd(ends[0]));
  const base::unique_fd theirs(ends[1]);
  std::snprintf(fds_.data(), fds_.size(), "%s=%d,%d,%d", process::guard_fds_variable, theirs.get(),
                page_.get(), worker_page_.get());
  // It does not die with us: it needs a moment to end the workload and release the lease. It is in
  // a process group of its own, so Ctrl-C in the terminal reaches it only through us.
  const pid_t pid =
      process::fork_and_exec({.program = "/proc/self/exe",
                              .argv = argv_.data(),
                              .environment = environment_.data(),
                              .keeps_hup_ignored = keeps_hup_ignored_,
                              .inherits = {theirs.get(), page_.get(), worker_page_.get()}});
  if (pid > 0) return pid;
  socket_.close();
  return std::unexpected("cannot fork the agent; check the limits on processes and memory");
}

void agent_process::signal(pid_t agent, int signo) {
  ::kill(agent, signo);
}

}  // namespace tenure::guard
