#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/clock.hpp"
#include "metrics/family.hpp"

namespace tenure::metrics {

/// How often a duration was how long, in buckets each twice as wide as the one before: a TTL may be
/// a second or a day, and nobody has to choose.
///
/// Thread-safe and lock-free. A reading is not of one instant, but never counts backwards, and its
/// buckets add up.
class duration_histogram {
 public:
  /// The first bucket ends here,
  static constexpr core::duration first_bound = std::chrono::microseconds(250);
  /// the last one more than a day and a half later; `core::max_ttl` is a day.
  static constexpr std::size_t bounds = 30;

  void observe(core::duration what);

  [[nodiscard]] histogram_family read(const title& as) const;

 private:
  std::array<std::atomic<std::uint64_t>, bounds + 1> counts_{};  ///< the last: what is longer
  std::atomic<std::uint64_t> sum_ns_{};
};

}  // namespace tenure::metrics
