#include "base/timer_queue.hpp"

#include <utility>

#include "core/check.hpp"

namespace tenure::base {

timer_queue::~timer_queue() {
  while (!by_time_.empty()) take_out(**by_time_.begin());
}

void timer_queue::put(entry& one, core::time_point when, std::move_only_function<void()> what) {
  TENURE_CHECK(one.when == core::never && when != core::never);
  one.when = when;
  one.number = ++last_;
  one.what = std::move(what);
  by_time_.insert(&one);
}

void timer_queue::take_out(entry& one) {
  if (one.when == core::never) return;
  by_time_.erase(&one);
  one.when = core::never;
  // Destroyed last: what it owns may set timers in its destructor.
  const auto gone = std::exchange(one.what, nullptr);
}

void timer_queue::call_first() {
  TENURE_CHECK(!by_time_.empty());
  entry& first = **by_time_.begin();
  by_time_.erase(by_time_.begin());
  first.when = core::never;
  // The call may destroy the entry.
  auto what = std::exchange(first.what, nullptr);
  what();
}

void timer_queue::call_due(core::time_point now) {
  const std::uint64_t last = last_;
  while (!by_time_.empty() && (*by_time_.begin())->when <= now &&
         (*by_time_.begin())->number <= last) {
    call_first();
  }
}

}  // namespace tenure::base
