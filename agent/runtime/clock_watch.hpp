#pragma once

#include <algorithm>

#include "base/clock_reading.hpp"
#include "core/clock.hpp"

namespace tenure::runtime {

/// Growth of what the machine has slept that is a sleep, and no inaccuracy of the reading.
inline constexpr core::duration sleep_noticed = std::chrono::milliseconds(100);
/// A timer that fires so late has waited for a processor; on a busy machine it is milliseconds.
inline constexpr core::duration lateness_noticed = std::chrono::seconds(1);
/// NTP's daemons slew what is less, and CLOCK_BOOTTIME with it; a leap second is more.
inline constexpr core::duration wall_jump_noticed = std::chrono::milliseconds(500);

/// What has happened to time since the last look. Zero: nothing worth a word.
struct clock_news {
  core::duration slept{};
  core::duration late{};         ///< awake, but without a processor
  core::duration wall_jumped{};  ///< forward, or back if negative
};

/// Compares readings of the clocks. Nothing is decided by it but which reason a lost lease is
/// given.
///
/// Not thread-safe.
class clock_watch {
 public:
  explicit clock_watch(const base::clock_reading& first) : last_(first) {}

  /// The next look is to come by `due`, to which a timer is set; or at once, if that was in the
  /// past when we last looked. Later than that is late, also if we were held up before the timer
  /// was set.
  void await(core::time_point due) { due_ = std::max(due, last_.boot); }

  /// What is new since the look before.
  clock_news look(const base::clock_reading& now);

 private:
  base::clock_reading last_;
  core::time_point due_ = core::never;
};

}  // namespace tenure::runtime
