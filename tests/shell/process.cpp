#include "process.hpp"

namespace tenure::shell {

using namespace std::chrono_literals;

void process::post(task what) {
  tasks_.push_back(std::move(what));
  turn_soon();
}

void process::go_on() {
  paused_ = false;
  turn_soon();
}

void process::turn_soon() {
  if (turning_) return;
  turning_ = true;
  world_.after(dice_.between(core::duration(1us), 50us), [noted = weak_from_this()] {
    if (const auto self = noted.lock()) self->turn();
  });
}

/// Like a loop of the kernel's events: what is ready now, and no more.
void process::turn() {
  turning_ = false;
  if (paused_) return;
  const bool timers_first = dice_.chance(500'000);
  if (timers_first) timers_.call_due(now());
  for (std::size_t ready = tasks_.size(); ready > 0; --ready) {
    task next = std::move(tasks_.front());
    tasks_.pop_front();
    next();
  }
  if (!timers_first) timers_.call_due(now());
  wakes_at_ = sim::world_never;
  timers_changed();
  if (!tasks_.empty()) turn_soon();
}

void process::timers_changed() {
  const world_time next = clock_.world(timers_.next());
  if (next >= wakes_at_) return;
  wakes_at_ = next;
  world_.at(next, [noted = weak_from_this(), next] {
    const auto self = noted.lock();
    if (self && self->wakes_at_ == next) self->turn_soon();
  });
}

}  // namespace tenure::shell
