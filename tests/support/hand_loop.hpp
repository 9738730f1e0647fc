#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "base/event_loop.hpp"

namespace tenure::tests {

/// An event loop whose time a test moves by hand. Work takes no time.
class hand_loop final : public base::event_loop {
 public:
  [[nodiscard]] core::time_point now() const override { return now_; }
  [[nodiscard]] std::uint64_t random_bits() override {
    bits_ = bits_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return bits_ ^ (bits_ >> 31U);
  }
  void post(task what) override { tasks_.push_back(std::move(what)); }

  /// Does what there is to do now.
  void run() {
    for (;;) {
      while (!tasks_.empty()) {
        task next = std::move(tasks_.front());
        tasks_.pop_front();
        next();
      }
      if (timers_.next() > now_) return;
      timers_.call_due(now_);
    }
  }

  /// Lets time pass, and does what falls due on the way.
  void pass(core::duration time) {
    const core::time_point end = now_ + time;
    run();
    while (timers_.next() <= end) {
      now_ = timers_.next();
      run();
    }
    now_ = end;
  }

 private:
  void timers_changed() override {}

  core::time_point now_ = core::time_point(std::chrono::hours(1));
  std::uint64_t bits_ = 1;
  std::deque<task> tasks_;
};

}  // namespace tenure::tests
