#pragma once

#include <chrono>
#include <cstdint>

#include "core/clock.hpp"

namespace tenure::base {

/// Three clocks of the kernel, all read at `boot`.
struct clock_reading {
  core::time_point boot{};  ///< CLOCK_BOOTTIME
  core::duration asleep{};  ///< how long the machine has slept since it was booted
  core::duration wall{};    ///< CLOCK_REALTIME, since 1970

  /// The wall clock in whole milliseconds.
  [[nodiscard]] std::int64_t unix_ms() const {
    return std::chrono::floor<std::chrono::milliseconds>(wall).count();
  }
};

/// Reads them. Use only differences between two readings, and only to show them to people: every
/// deadline is on CLOCK_BOOTTIME. On a machine too busy to read the clocks together, `asleep` and
/// `wall` may be off by as long as we were interrupted. Thread-safe.
clock_reading read_clocks();

}  // namespace tenure::base
