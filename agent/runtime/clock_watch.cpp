#include "runtime/clock_watch.hpp"

#include <chrono>
#include <utility>

namespace tenure::runtime {

clock_news clock_watch::look(const base::clock_reading& now) {
  const base::clock_reading before = std::exchange(last_, now);
  clock_news news;
  const core::duration slept = now.asleep - before.asleep;
  if (slept > sleep_noticed) news.slept = slept;
  if (due_ < now.boot) {
    // The time slept is not the scheduler's fault.
    const core::duration late = now.boot - std::exchange(due_, core::never) - news.slept;
    if (late > lateness_noticed) news.late = late;
  }
  const core::duration jumped = (now.wall - before.wall) - (now.boot - before.boot);
  if (std::chrono::abs(jumped) > wall_jump_noticed) news.wall_jumped = jumped;
  return news;
}

}  // namespace tenure::runtime
