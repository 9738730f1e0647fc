#include "guard/guard_kernel.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>

#include "base/boot_time.hpp"
#include "base/terminal.hpp"
#include "core/check.hpp"

namespace tenure::guard {
namespace {

/// Passed on to the workload, which would get them if it were the first process itself. Real-time
/// signals are passed on, too.
constexpr int forwarded[] = {SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT, SIGTSTP};

constexpr std::size_t most_others = 3;

}  // namespace

bool guard_kernel::open() {
  sigset_t all;
  ::sigfillset(&all);
  if (::sigprocmask(SIG_SETMASK, &all, nullptr) != 0) return false;
  sigset_t ours;
  ::sigemptyset(&ours);
  for (const int signo : {SIGCHLD, SIGTERM, SIGINT, SIGQUIT}) ::sigaddset(&ours, signo);
  for (const int signo : forwarded) ::sigaddset(&ours, signo);
  for (int signo = SIGRTMIN; signo <= SIGRTMAX; ++signo) ::sigaddset(&ours, signo);
  signals_.reset(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
  timer_.reset(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  // Once and here: asking a file on a mount that hangs would wait.
  terminal_ = base::standard_terminal();
  return signals_ && timer_;
}

bool guard_kernel::terminal_is_gone() {
  return base::has_hung_up(terminal_);
}

core::time_point guard_kernel::now() const {
  return base::boot_now();
}

void guard_kernel::set_timer(core::time_point when) {
  itimerspec spec{};
  if (when != core::never) {
    // Zero would switch the timer off.
    const auto since_boot = std::max(when.time_since_epoch(), core::duration(1));
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
    spec.it_value.tv_sec = seconds.count();
    spec.it_value.tv_nsec = (since_boot - seconds).count();
  }
  TENURE_CHECK(::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr) == 0);
}

void guard_kernel::wait(std::span<const pollfd> others, bool blocks) {
  TENURE_CHECK(others.size() <= most_others);
  std::array<pollfd, 2 + most_others> all{};
  all[0] = {.fd = signals_.get(), .events = POLLIN, .revents = 0};
  all[1] = {.fd = timer_.get(), .events = POLLIN, .revents = 0};
  std::ranges::copy(others, all.begin() + 2);
  ::poll(all.data(), 2 + others.size(), blocks ? -1 : 0);
}

std::optional<int> guard_kernel::next_signal() {
  signalfd_siginfo one;
  if (::read(signals_.get(), &one, sizeof one) != sizeof one) return std::nullopt;
  return static_cast<int>(one.ssi_signo);
}

void guard_kernel::keep_apart(process::side_process& one) {
  const auto free = std::ranges::find(apart_, nullptr);
  TENURE_CHECK(free != apart_.end());
  *free = &one;
}

std::optional<child_change> guard_kernel::next_child() {
  for (;;) {
    child_change out;
    out.pid = ::waitpid(-1, &out.status, WNOHANG | WUNTRACED);
    if (out.pid <= 0) return std::nullopt;
    const auto apart = std::ranges::find_if(
        apart_, [&](const auto* one) { return one != nullptr && one->pid() == out.pid; });
    if (apart == apart_.end()) return out;
    if (!WIFSTOPPED(out.status)) (*apart)->reaped();
  }
}

}  // namespace tenure::guard
