#pragma once

#include <algorithm>
#include <cstdint>

#include "core/clock.hpp"

namespace tenure::core {

/// Limits a rate: `capacity` at once, then `per_second`.
class token_bucket {
 public:
  /// Precondition: both are positive.
  constexpr token_bucket(std::int64_t capacity, std::int64_t per_second)
      : capacity_(capacity), per_second_(per_second), left_(static_cast<double>(capacity)) {}

  /// Takes `amount`, which has arrived already. Returns how long to wait before taking more: zero
  /// while some is left. Precondition: `now` never goes backwards.
  duration take(time_point now, std::int64_t amount) {
    fill(now);
    left_ -= static_cast<double>(amount);
    if (left_ >= 0) return duration::zero();
    return std::chrono::ceil<duration>(seconds(-left_ / static_cast<double>(per_second_)));
  }

  /// Takes one if it is left. For what is dropped otherwise: a drop costs nothing, so a flood is
  /// over when it ends. Precondition: `now` never goes backwards.
  [[nodiscard]] bool admits(time_point now) {
    fill(now);
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  using seconds = std::chrono::duration<double>;

  void fill(time_point now) {
    const double since = begun_ ? std::chrono::duration_cast<seconds>(now - last_).count() : 0;
    begun_ = true;
    last_ = now;
    const double filled = left_ + since * static_cast<double>(per_second_);
    left_ = std::min(static_cast<double>(capacity_), filled);
  }

  std::int64_t capacity_;
  std::int64_t per_second_;
  double left_;
  time_point last_{};
  bool begun_ = false;
};

}  // namespace tenure::core
