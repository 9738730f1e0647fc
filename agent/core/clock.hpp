#pragma once

#include <chrono>
#include <cstdint>

namespace tenure::core {

/// CLOCK_BOOTTIME, as a clock that cannot be read.
///
/// There is deliberately no now(): core code receives time points as arguments, so that a test or a
/// simulation decides what time it is. `base::boot_now()` reads the real clock. Nanoseconds, as the
/// kernel gives them, so that no deadline is ever rounded.
struct boot_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock, duration>;
  static constexpr bool is_steady = true;
};

using duration = boot_clock::duration;
using time_point = boot_clock::time_point;

/// "Not scheduled": later than every other instant.
inline constexpr time_point never = time_point::max();

/// The input of a step besides its event: the instant, and random bits.
struct moment {
  time_point now;
  /// Fresh random bits of this step; they only spread retries out (jitter).
  std::uint64_t entropy = 0;
};

/// `t + d`, or `never` if that is too far away to represent.
constexpr time_point later(time_point t, duration d) {
  return d > never - t ? never : t + d;
}

}  // namespace tenure::core
