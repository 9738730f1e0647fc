#include "process/exec_child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/file_limit.hpp"
#include "process/exec_status.hpp"

namespace tenure::process {
namespace {

/// Ignored signals and the mask survive exec, but the workload must not inherit ours.
void reset_signals(bool keep_hup_ignored) {
  for (int signo = 1; signo < NSIG; ++signo) {
    if (signo != SIGHUP || !keep_hup_ignored) ::signal(signo, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(const exec_request& what, pid_t parent) {
  ::setpgid(0, 0);
  // Every signal is still blocked here, including SIGTTOU, which would otherwise stop us.
  if (what.takes_terminal) ::tcsetpgrp(STDIN_FILENO, ::getpid());
  if (what.dies_with_us) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have died before prctl took effect.
    if (::getppid() != parent) ::_exit(exit_guard_unusable);
  }
  for (const int fd : what.inherits) {
    if (fd >= 0) ::fcntl(fd, F_SETFD, 0);
  }
  reset_signals(what.keeps_hup_ignored);
  base::restore_file_limit();
  if (what.search_path) {
    ::execvpe(what.program, what.argv, what.environment);
  } else {
    ::execve(what.program, what.argv, what.environment);
  }
  const int error = errno;
  if (what.error_pipe >= 0) {
    [[maybe_unused]] const ssize_t sent = ::write(what.error_pipe, &error, sizeof error);
  }
  ::_exit(error == ENOENT ? exit_command_not_found : exit_command_not_executable);
}

}  // namespace

pid_t fork_and_exec(const exec_request& what) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(what, parent);
  // In both processes, so that the group exists whichever of them runs first.
  if (child > 0) ::setpgid(child, child);
  return child;
}

}  // namespace tenure::process
