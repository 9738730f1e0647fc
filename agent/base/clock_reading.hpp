#pragma once

#include <chrono>
#include <cstdint>

#include "core/clock.hpp"

namespace tenure::base {

/// What three clocks of the kernel show, all read at `boot`.
struct clock_reading {
  core::time_point boot{};  ///< CLOCK_BOOTTIME
  core::duration asleep{};  ///< what the machine has slept since it was booted
  core::duration wall{};    ///< CLOCK_REALTIME, since 1970

  /// The wall clock in whole milliseconds.
  [[nodiscard]] std::int64_t unix_ms() const {
    return std::chrono::floor<std::chrono::milliseconds>(wall).count();
  }
};

/// Reads them. Only differences between two readings mean anything, and only to people: no deadline
/// is ever on another clock than CLOCK_BOOTTIME. On a machine so busy that the clocks cannot be
/// read together, `asleep` and `wall` may be off by as long as we were interrupted. Thread-safe.
clock_reading read_clocks();

}  // namespace tenure::base
