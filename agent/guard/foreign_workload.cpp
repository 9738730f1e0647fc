#include "guard/foreign_workload.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include "guard/guard_lines.hpp"

namespace tenure::guard {
namespace {

using namespace std::chrono_literals;

/// While standby, a container that the kubelet restarts is stopped within this time.
constexpr core::duration between_sweeps = 500ms;
/// While active and not yet started, or after an incomplete look.
constexpr core::duration between_looks = 200ms;
/// While it ends, in addition to its pidfds: there may be more processes than pidfds.
constexpr core::duration between_looks_at_the_end = 20ms;

/// While the workload is to be told that it is active, and one of its processes starts another.
constexpr core::duration between_tries_to_tell = 1ms;
/// A process that hangs in the kernel for longer could not act on the signal.
constexpr core::duration tells_within = 200ms;

/// We are not the parent, so the status is unknown.
constexpr int unknown_status = -1;

}  // namespace

workload_news foreign_workload::look(core::time_point now, state is) {
  if (now < look_at_ && !finder_.has_deaths()) return {};
  if (tell_by_ && is == state::running) return tell(now);
  const tally found = finder_.look();
  warn_of(found);
  workload_news out =
      is == state::empty ? sweep(now, found) : watch(now, found, is == state::running);
  // Told to stop before it was told that it is active: the start is answered all the same.
  if (std::exchange(tell_by_, std::nullopt)) out.started = finder_.first();
  return out;
}

/// A workload without a lease belongs to no term and must end.
workload_news foreign_workload::sweep(core::time_point now, const tally& found) {
  const bool every_time = !rules_.may_run_on_standby;
  if (found.left > 0 && sweeping_) return {.runs_astray = true};
  // A workload that may run on a standby has to start as one: only what ran before us is stopped,
  // once.
  if (found.empty() && !every_time) sweeping_ = false;
  look_at_ = every_time ? now + between_sweeps : sweeping_ ? now + between_looks : core::never;
  return {};
}

workload_news foreign_workload::watch(core::time_point now, const tally& found, bool running) {
  workload_news out;
  if (found.left > 0 && !std::exchange(seen_, true)) out.started = finder_.first();
  if (!found.empty() || (running && !seen_)) {
    const bool wait_for_pidfds = running && seen_ && found.complete;
    look_at_ =
        wait_for_pidfds ? core::never : now + (running ? between_looks : between_looks_at_the_end);
    return out;
  }
  warned_ = seen_ = false;
  look_at_ = now;
  // A process that starts later was never told that it is active: it runs as standby.
  sweeping_ = !rules_.may_run_on_standby;
  out.ended = unknown_status;
  return out;
}

/// Starts nothing itself: the workload runs already, or others start it.
workload_news foreign_workload::start(core::time_point now, std::string_view) {
  look_at_ = now;
  if (rules_.gain_signal != 0) {
    tell_by_ = now + tells_within;
    return tell(now);
  }
  seen_ = finder_.look().left > 0;
  return {.started = finder_.first()};
}

workload_news foreign_workload::tell(core::time_point now) {
  const bool is_last_try = now >= *tell_by_;
  const tally told = finder_.signal_matches(
      rules_.gain_signal, is_last_try ? if_undecided::leave_out : if_undecided::wait);
  if (told.undecided > 0 && !is_last_try) {
    look_at_ = now + between_tries_to_tell;
    return {};
  }
  tell_by_.reset();
  look_at_ = now;
  if (told.denied > 0) return {.failed = EPERM};
  if (told.told == 0) return {.failed = told.undecided > 0 ? EBUSY : ESRCH};
  seen_ = told.left > 0;
  return {.started = finder_.first()};
}

void foreign_workload::terminate(core::time_point now, int signo) {
  look_at_ = now;
  finder_.signal_all(signo);
  // A stopped process would not act on the signal.
  finder_.signal_all(SIGCONT);
}

void foreign_workload::kill(core::time_point now, bool) {
  look_at_ = now;
  warn_of(finder_.kill_all());
}

/// Logs once per occurrence.
void foreign_workload::warn_of(const tally& found) {
  if (found.denied == 0 || std::exchange(warned_, true)) return;
  say_may_not_signal(log_);
}

}  // namespace tenure::guard
