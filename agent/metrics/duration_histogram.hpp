#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/clock.hpp"
#include "metrics/family.hpp"

namespace tenure::metrics {

/// Counts durations in buckets, each twice as wide as the one before: a TTL may be a second or a
/// day, and nobody has to choose the buckets.
///
/// Thread-safe and lock-free. A reading is not of one instant, but counts never decrease, and the
/// buckets add up.
class duration_histogram {
 public:
  /// The end of the first bucket.
  static constexpr core::duration first_bound = std::chrono::microseconds(250);
  /// The last bucket ends after more than a day and a half; `core::max_ttl` is a day.
  static constexpr std::size_t bounds = 30;

  void observe(core::duration what);

  [[nodiscard]] histogram_family read(const title& as) const;

 private:
  std::array<std::atomic<std::uint64_t>, bounds + 1> counts_{};  ///< the last one: longer durations
  std::atomic<std::uint64_t> sum_ns_{};
};

}  // namespace tenure::metrics
