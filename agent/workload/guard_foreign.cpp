#include <poll.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include "os/boot_time.hpp"
#include "workload/guard_lines.hpp"
#include "workload/guard_loop.hpp"

/// The part of the guard for a workload that somebody else starts. Nobody tells us of its
/// processes: they are looked for, and their deaths are seen on pidfds.
namespace tenure::workload {
namespace {

using namespace std::chrono_literals;

/// A container that the kubelet starts again while we are standby is stopped so soon.
constexpr core::duration between_sweeps = 500ms;
/// An active one that was not started yet, or could not be looked at as a whole.
constexpr core::duration between_looks = 200ms;
/// While it ends, beside what its pidfds say: there may be more of them than we hold.
constexpr core::duration between_looks_at_the_end = 20ms;

/// `workload_exited::status` where there is no parent to ask.
constexpr int unknown_status = -1;

bool readable(int fd) {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) > 0;
}

}  // namespace

void guard_loop::check_foreign() {
  const core::time_point now = os::boot_now();
  if (now < look_at_ && !readable(foreign_->deaths())) return;
  const tally found = foreign_->look();
  warn_of(found);
  if (runs()) {
    watch_foreign(found);
  } else {
    sweep(found);
  }
}

/// What runs without a lease is the workload of no term, and out of time.
void guard_loop::sweep(const tally& found) {
  const core::time_point now = os::boot_now();
  const bool every_time = !options_.foreign->may_run_on_standby;
  if (found.left > 0 && sweeping_) {
    say_runs_without_lease(log_);
    carry_out(core_.armed(now, now + 1ns, now + options_.after_exit_grace));
    carry_out(core_.start_asked(now, core::no_version));
    return stop_by_ourselves(options_.after_exit_grace);
  }
  // What may run on a standby has to begin as one: once only, what was there before us.
  if (found.empty() && !every_time) sweeping_ = false;
  look_at_ = every_time ? now + between_sweeps : sweeping_ ? now + between_looks : core::never;
}

void guard_loop::watch_foreign(const tally& found) {
  const core::time_point now = os::boot_now();
  const bool running = core_.current() == core::guard::state::running;
  if (found.left > 0 && !std::exchange(seen_, true)) say_seen();
  if (!found.empty() || (running && !seen_)) {
    const bool wait_for_pidfds = running && seen_ && found.complete;
    look_at_ =
        wait_for_pidfds ? core::never : now + (running ? between_looks : between_looks_at_the_end);
    return;
  }
  warned_ = seen_ = false;
  look_at_ = now;
  if (!runs_under_a_lease()) {
    core_.emptied();
    sweeping_ = !options_.foreign->may_run_on_standby;
    if (const auto next = std::exchange(start_after_end_, std::nullopt)) on(*next, {});
    return;
  }
  ended_by_itself_ = running;
  // What comes after it has not been told anything: it is a standby's.
  sweeping_ = !options_.foreign->may_run_on_standby;
  report_end(unknown_status);
}

/// Nothing is started here. It may be there already, or be started by whoever does.
void guard_loop::start_foreign() {
  look_at_ = os::boot_now();
  const int signo = options_.foreign->gain_signal;
  const tally told = signo != 0 ? foreign_->signal_matches(signo) : foreign_->look();
  if (signo != 0 && (told.matching == 0 || told.denied > 0)) {
    return report_start_failure(told.matching == 0 ? ESRCH : EPERM);
  }
  seen_ = told.left > 0;
  say_seen();
}

/// What was to begin after the end of a stray is not wanted any more.
void guard_loop::refuse_waiting_start() {
  const auto waiting = std::exchange(start_after_end_, std::nullopt);
  if (waiting) channel_.say(message::refused{.term = waiting->term});
}

/// Who it is; nobody if it is not there yet.
void guard_loop::say_seen() {
  const auto members = foreign_->members();
  channel_.say(message::started{.term = core::number(core_.term()),
                                .pid = members.empty() ? 0 : members.front().pid});
}

/// Said once for each time that it happens.
void guard_loop::warn_of(const tally& found) {
  if (found.denied == 0 || std::exchange(warned_, true)) return;
  say_may_not_signal(log_);
}

}  // namespace tenure::workload
