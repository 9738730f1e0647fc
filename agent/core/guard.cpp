#include "core/guard.hpp"

#include <algorithm>
#include <chrono>

#include "core/sometimes.hpp"

namespace tenure::core {
namespace {

/// SIGKILL is repeated while a process is left: the workload may have forked in between.
constexpr duration kill_again = std::chrono::milliseconds(10);

}  // namespace

guard_actions guard::armed(time_point now, time_point stop_at, time_point kill_at) {
  stop_at_ = stop_at;
  kill_at_ = kill_at;
  return woke(now);
}

guard_actions guard::start_asked(time_point now, core::version version) {
  if (state_ != state::empty || now >= std::min(stop_at_, kill_at_)) {
    TENURE_SOMETIMES(guard_refused_a_start);
    return {.refused = true};
  }
  state_ = state::running;
  version_ = version;
  kill_by_ = never;
  return {.start = true};
}

guard_actions guard::stop_asked(time_point now, time_point kill_by) {
  return stop(now, kill_by);
}

guard_actions guard::leader_gone(time_point now, time_point kill_by) {
  return stop(now, kill_by);
}

guard_actions guard::stop(time_point now, time_point kill_by) {
  if (state_ == state::empty || state_ == state::killing) return {};
  guard_actions todo;
  if (state_ == state::running) {
    state_ = state::stopping;
    todo.terminate = true;
    kill_by_ = kill_by;
  }
  kill_by_ = std::min(kill_by_, kill_by);
  const guard_actions due = woke(now);
  todo.kill = due.kill;
  return todo;
}

void guard::emptied() {
  state_ = state::empty;
  stop_at_ = kill_at_ = time_point::min();
  kill_by_ = never;
  again_ = never;
}

guard_actions guard::woke(time_point now) {
  if (state_ == state::empty || now < next_wake()) return {};
  if (state_ == state::running && now < kill_at_) return stop(now, kill_at_);
  if (state_ == state::stopping) TENURE_SOMETIMES(guard_killed_at_its_deadline);
  state_ = state::killing;
  again_ = now + kill_again;
  return {.kill = true};
}

time_point guard::next_wake() const {
  switch (state_) {
    case state::empty:
      return never;
    case state::running:
      return std::min(stop_at_, kill_at_);
    case state::stopping:
      return std::min(kill_at_, kill_by_);
    case state::killing:
      return again_;
  }
  return never;
}

}  // namespace tenure::core
