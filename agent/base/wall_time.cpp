#include "base/wall_time.hpp"

#include <ctime>

namespace tenure::base {

std::int64_t wall_now_ms() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return std::int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1'000'000;
}

}  // namespace tenure::base
