#include "process/exec_child.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/file_limit.hpp"
#include "process/bare_call.hpp"
#include "process/exec_status.hpp"

namespace tenure::process {
namespace {

/// As the kernel takes them: a signal's action is the handler, flags, a restorer and a mask.
constexpr std::size_t kernel_mask_bytes = 8;
constexpr std::array<unsigned long, 4> default_action{};

/// Where the kubelet reads it, unless the pod's spec names another file. Not there elsewhere.
constexpr const char* termination_log = "/dev/termination-log";

void leave(std::string_view last_words) {
  const long file =
      bare_call(SYS_openat, AT_FDCWD, termination_log, O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (file < 0) return;
  bare_call(SYS_write, file, last_words.data(), last_words.size());
  bare_call(SYS_close, file);
}

[[noreturn]] void become(const exec_request& what, pid_t parent) {
  if (!set_up_child(what, parent, base::file_limit_of_programs())) ::_exit(exit_guard_unusable);
  if (what.search_path) {
    ::execvpe(what.program, what.argv, what.environment);
  } else {
    ::execve(what.program, what.argv, what.environment);
  }
  ::_exit(report_failed_exec(what, errno));
}

}  // namespace

bool may_signal_all() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  return ::syscall(SYS_capget, &header, sets.data()) == 0 &&
         (sets[CAP_TO_INDEX(CAP_KILL)].effective & CAP_TO_MASK(CAP_KILL)) != 0;
}

bool set_up_child(const exec_request& what, pid_t parent, const std::optional<rlimit>& limit) {
  bare_call(SYS_setpgid, 0, 0);
  // Every signal is still blocked here, including SIGTTOU, which would otherwise stop us.
  if (what.takes_terminal) {
    const pid_t self = static_cast<pid_t>(bare_call(SYS_getpid));
    bare_call(SYS_ioctl, STDIN_FILENO, TIOCSPGRP, &self);
  }
  if (what.dies_with_us) {
    bare_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have died before prctl took effect.
    if (bare_call(SYS_getppid) != parent) return false;
  }
  if (what.gains_no_privileges) bare_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  for (const int fd : what.inherits) {
    if (fd >= 0) bare_call(SYS_fcntl, fd, F_SETFD, 0);
  }
  // Ignored signals and the mask survive exec, but the program must not inherit ours.
  for (int signo = 1; signo < NSIG; ++signo) {
    if (signo == SIGHUP && what.keeps_hup_ignored) continue;
    bare_call(SYS_rt_sigaction, signo, default_action.data(), nullptr, kernel_mask_bytes);
  }
  if (limit) bare_call(SYS_prlimit64, 0, RLIMIT_NOFILE, &*limit, nullptr);
  constexpr unsigned long none = 0;
  bare_call(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, kernel_mask_bytes);
  if (!what.last_words.empty()) leave(what.last_words);
  return true;
}

int report_failed_exec(const exec_request& what, int error) {
  if (what.error_pipe >= 0) bare_call(SYS_write, what.error_pipe, &error, sizeof error);
  return error == ENOENT ? exit_command_not_found : exit_command_not_executable;
}

pid_t fork_and_exec(const exec_request& what) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(what, parent);
  // In both processes, so that the group exists whichever of them runs first.
  if (child > 0) ::setpgid(child, child);
  return child;
}

}  // namespace tenure::process
