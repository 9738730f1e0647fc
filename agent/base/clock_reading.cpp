#include "base/clock_reading.hpp"

#include <ctime>

#include "base/boot_time.hpp"

namespace tenure::base {
namespace {

/// Clocks that are read within this time count as read together.
constexpr core::duration together = std::chrono::microseconds(100);
constexpr int tries = 4;

core::duration read(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace

clock_reading read_clocks() {
  clock_reading best;
  core::duration least = core::duration::max();
  for (int i = 0; i < tries && least > together; ++i) {
    const core::time_point before = boot_now();
    // It stops in suspend and CLOCK_BOOTTIME does not: the difference is the sleep.
    const core::duration awake = read(CLOCK_MONOTONIC);
    const core::duration wall = read(CLOCK_REALTIME);
    const core::time_point after = boot_now();
    if (after - before >= least) continue;
    least = after - before;
    best = {.boot = after, .asleep = after.time_since_epoch() - awake, .wall = wall};
  }
  return best;
}

}  // namespace tenure::base
