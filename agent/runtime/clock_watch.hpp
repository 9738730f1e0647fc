#pragma once

#include <algorithm>

#include "base/clock_reading.hpp"
#include "core/clock.hpp"

namespace tenure::runtime {

/// A larger growth of the sleep counter is a sleep; a smaller one is inaccuracy of the readings.
inline constexpr core::duration sleep_noticed = std::chrono::milliseconds(100);
/// A timer this late has waited for a processor; on a busy machine, milliseconds are normal.
inline constexpr core::duration lateness_noticed = std::chrono::seconds(1);
/// NTP daemons slew smaller differences, and CLOCK_BOOTTIME with them; a leap second is larger.
inline constexpr core::duration wall_jump_noticed = std::chrono::milliseconds(500);

/// What has happened to the clocks since the last look. Zero: nothing worth reporting.
struct clock_news {
  core::duration slept{};
  core::duration late{};         ///< awake, but without a processor
  core::duration wall_jumped{};  ///< forward, or back if negative
};

/// Compares readings of the clocks. It decides only which reason is given for a lost lease.
///
/// Not thread-safe.
class clock_watch {
 public:
  explicit clock_watch(const base::clock_reading& first) : last_(first) {}

  /// Announces that the next look is due at `due`, for which a timer is set; or at once, if `due`
  /// was in the past at the last look. A later look counts as late, even if the delay was before
  /// the timer was set.
  void await(core::time_point due) { due_ = std::max(due, last_.boot); }

  /// Returns the news since the last look.
  clock_news look(const base::clock_reading& now);

 private:
  base::clock_reading last_;
  core::time_point due_ = core::never;
};

}  // namespace tenure::runtime
