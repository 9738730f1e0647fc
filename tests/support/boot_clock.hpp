#pragma once

#include <cstdint>
#include <ctime>

namespace tenure::tests {

/// CLOCK_BOOTTIME in nanoseconds, as in the stamps of workloads.
inline std::int64_t boot_nanoseconds() {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace tenure::tests
