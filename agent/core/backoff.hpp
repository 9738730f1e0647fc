#pragma once

#include <algorithm>
#include <cstdint>

#include "core/clock.hpp"

namespace tenure::core {

/// Exponential back-off with equal jitter: half of the step is fixed, half is drawn.
///
/// Drawing the whole step ("full jitter") would sometimes retry at once, which a crowd of
/// candidates must not do when their store has just come back.
struct backoff {
  duration first;  ///< the step after one failure
  duration most;   ///< no step is longer than this

  /// How long to wait after the `failures`-th failure in a row (from 1), given random bits.
  [[nodiscard]] constexpr duration after(std::uint32_t failures, std::uint64_t entropy) const {
    const std::uint32_t doublings = std::min<std::uint32_t>(failures > 0 ? failures - 1 : 0, 20);
    const duration step = std::min(most, first * (std::int64_t{1} << doublings));
    const auto half = static_cast<std::uint64_t>(step.count() / 2);
    return duration(step.count() / 2 + static_cast<std::int64_t>(entropy % (half + 1)));
  }
};

}  // namespace tenure::core
