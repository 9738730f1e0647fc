#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace tenure::tests {

/// A process of its own that does `what`, as `user`, until this object ends.
class other_process {
 public:
  explicit other_process(const std::function<void()>& what, uid_t user = ::geteuid())
      : pid_(::fork()) {
    if (pid_ != 0) return;
    if (user == ::geteuid() || ::setresuid(user, user, user) == 0) what();
    ::_exit(0);
  }
  ~other_process() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool ended() const {
    siginfo_t how{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           how.si_pid == pid_;
  }

 private:
  pid_t pid_;
};

[[noreturn]] inline void sleep_on() {
  while (true) ::pause();
}

/// As another user, who shows root his environment only if root may trace.
inline void sleep_as_nobody() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::execlp("setpriv", "setpriv", "--reuid=65534", "--clear-groups", "sleep", "1000", nullptr);
}

}  // namespace tenure::tests
