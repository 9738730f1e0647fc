#include "guard/foreign_workload.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include "guard/guard_lines.hpp"

namespace tenure::guard {
namespace {

using namespace std::chrono_literals;

/// A container that the kubelet starts again while we are standby is stopped so soon.
constexpr core::duration between_sweeps = 500ms;
/// An active one that was not started yet, or could not be looked at as a whole.
constexpr core::duration between_looks = 200ms;
/// While it ends, beside what its pidfds say: there may be more of them than we hold.
constexpr core::duration between_looks_at_the_end = 20ms;

/// There is no parent to ask.
constexpr int unknown_status = -1;

}  // namespace

workload_news foreign_workload::look(core::time_point now, state is) {
  if (now < look_at_ && !finder_.has_deaths()) return {};
  const tally found = finder_.look();
  warn_of(found);
  return is == state::empty ? sweep(now, found) : watch(now, found, is == state::running);
}

/// What runs without a lease is the workload of no term, and out of time.
workload_news foreign_workload::sweep(core::time_point now, const tally& found) {
  const bool every_time = !rules_.may_run_on_standby;
  if (found.left > 0 && sweeping_) return {.runs_astray = true};
  // What may run on a standby has to begin as one: once only, what was there before us.
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
  // What comes after it has not been told anything: it is a standby's.
  sweeping_ = !rules_.may_run_on_standby;
  out.ended = unknown_status;
  return out;
}

/// Nothing is started here. It may be there already, or be started by whoever does.
workload_news foreign_workload::start(core::time_point now, std::string_view) {
  look_at_ = now;
  const int signo = rules_.gain_signal;
  const tally told = signo != 0 ? finder_.signal_matches(signo) : finder_.look();
  if (signo != 0 && (told.matching == 0 || told.denied > 0)) {
    return {.failed = told.matching == 0 ? ESRCH : EPERM};
  }
  seen_ = told.left > 0;
  return {.started = finder_.first()};
}

void foreign_workload::terminate(core::time_point now, int signo) {
  look_at_ = now;
  finder_.signal_all(signo);
  // A stopped process would sleep through it.
  finder_.signal_all(SIGCONT);
}

void foreign_workload::kill(core::time_point now, bool) {
  look_at_ = now;
  warn_of(finder_.kill_all());
}

/// Said once for each time that it happens.
void foreign_workload::warn_of(const tally& found) {
  if (found.denied == 0 || std::exchange(warned_, true)) return;
  say_may_not_signal(log_);
}

}  // namespace tenure::guard
