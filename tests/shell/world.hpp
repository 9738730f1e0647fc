#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/rng.hpp"
#include "sim/virtual_time.hpp"

namespace tenure::shell {

using sim::machine_clock;
using sim::rng;
using sim::world_time;

/// True time, chance, and what is going to happen. One seed is one course of the world.
class world {
 public:
  using task = std::move_only_function<void()>;

  explicit world(std::uint64_t seed) : dice(seed) {}

  /// What is set for one instant happens in the order in which it was set.
  void at(world_time when, task what) {
    agenda_.push_back({.when = std::max(when, now), .number = ++last_, .what = std::move(what)});
    std::ranges::push_heap(agenda_, later);
  }
  void after(core::duration wait, task what) { at(now + wait, std::move(what)); }

  /// Lets everything happen until `end`. What happens may call it, too, and go beyond `end`.
  void run_until(world_time end) {
    ++depth_;
    while (!agenda_.empty() && agenda_.front().when <= end) {
      std::ranges::pop_heap(agenda_, later);
      entry next = std::move(agenda_.back());
      agenda_.pop_back();
      now = next.when;
      ++events;
      next.what();
    }
    now = std::max(now, end);
    --depth_;
  }
  /// True while something that happens has called `run_until`.
  [[nodiscard]] bool is_nested() const { return depth_ > 1; }

  world_time now{std::chrono::hours(1)};
  std::uint64_t events = 0;
  rng dice;

 private:
  struct entry {
    world_time when;
    std::uint64_t number;
    task what;
  };
  static bool later(const entry& a, const entry& b) {
    return a.when != b.when ? a.when > b.when : a.number > b.number;
  }

  std::vector<entry> agenda_;
  std::uint64_t last_ = 0;
  int depth_ = 0;
};

}  // namespace tenure::shell
