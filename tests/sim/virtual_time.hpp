#pragma once

#include <chrono>
#include <cstdint>

#include "core/clock.hpp"

namespace tenure::sim {

/// True time, which nobody in the simulated world can read.
struct world_clock {
  using duration = core::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<world_clock, duration>;
  static constexpr bool is_steady = true;
};

using world_time = world_clock::time_point;
inline constexpr world_time world_never = world_time::max();

/// What every wall clock shows then, in milliseconds. Never 0.
inline std::int64_t unix_ms_at(world_time t) {
  return 1 + std::chrono::floor<std::chrono::milliseconds>(t.time_since_epoch()).count();
}

/// Two clocks of these rates are at most 1 % apart: 1.004975 / 0.995025 < 1.01.
inline constexpr std::int64_t most_ppm_off = 4975;

/// The CLOCK_BOOTTIME of one machine: an offset and a rate against true time.
class machine_clock {
 public:
  machine_clock() = default;
  machine_clock(core::duration offset, std::int64_t ppm_off)
      : offset_(offset), rate_(million + ppm_off) {}

  /// What this clock shows at `t`.
  [[nodiscard]] core::time_point local(world_time t) const {
    return core::time_point(offset_ + elapsed(t.time_since_epoch()));
  }

  /// The first instant at which this clock shows `t`; `world_never` for `core::never`.
  [[nodiscard]] world_time world(core::time_point t) const {
    if (t == core::never) return world_never;
    const std::int64_t shown = (t.time_since_epoch() - offset_).count();
    if (shown <= 0) return world_time{};
    return world_time(
        core::duration(shown / rate_ * million + (shown % rate_ * million + rate_ - 1) / rate_));
  }

  /// How long it really takes until this clock has advanced by `shown`.
  [[nodiscard]] core::duration takes(core::duration shown) const {
    return core::duration(shown.count() / rate_ * million +
                          shown.count() % rate_ * million / rate_);
  }

 private:
  static constexpr std::int64_t million = 1'000'000;

  [[nodiscard]] core::duration elapsed(core::duration real) const {
    return core::duration(real.count() / million * rate_ +
                          real.count() % million * rate_ / million);
  }

  core::duration offset_{};
  std::int64_t rate_ = million;  ///< nanoseconds shown per true millisecond
};

}  // namespace tenure::sim
