#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/clock.hpp"

namespace tenure::core {

/// What is known of a workload's health.
enum class health : std::uint8_t {
  unknown,  ///< not checked, or the checks have not decided yet
  healthy,
  unhealthy,
};

std::string_view name(health h);

/// What the checks say of the workload's health.
struct health_finding {
  health state = health::unknown;
  std::string reason{};  ///< what failed in the newest check; empty if it passed, or there was none
  std::int64_t since_unix_ms = 0;  ///< of the state

  friend bool operator==(const health_finding&, const health_finding&) = default;
};

/// How many checks decide.
struct health_rule {
  std::uint32_t failures = 3;   ///< in a row: what was healthy is unhealthy
  std::uint32_t successes = 1;  ///< in a row: what was not is healthy
  duration delay{};             ///< after a start of the workload in which no failure counts
};

/// Makes one verdict of many checks, so that a hiccup is not an illness.
///
/// Not thread-safe; one thread drives it.
class health_judge {
 public:
  /// Precondition: neither number is 0.
  explicit health_judge(const health_rule& rule);

  /// Nothing is known any more. No failure of a check that begins before `now + delay` counts.
  void begin(time_point now);

  /// The workload was started: failures have `delay` again before they count. What is known stays.
  void forgive(time_point now);

  /// A check has passed. True if that changes the verdict.
  bool passed();

  /// A check that was begun at `begun` has failed. True if that changes the verdict.
  bool failed(time_point begun);

  [[nodiscard]] health verdict() const { return verdict_; }

 private:
  bool decide(health verdict);

  health_rule rule_;
  health verdict_ = health::unknown;
  std::uint32_t failures_ = 0;   ///< in a row that count
  std::uint32_t successes_ = 0;  ///< in a row
  time_point forgiven_until_ = time_point::min();
};

}  // namespace tenure::core
