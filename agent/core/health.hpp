#pragma once

#include <cstdint>
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

/// The health with this name; `unknown` for any other text.
health health_named(std::string_view text);

/// How many checks change the verdict.
struct health_rule {
  std::uint32_t failures = 3;   ///< in a row: becomes unhealthy
  std::uint32_t successes = 1;  ///< in a row: becomes healthy
  duration delay{};             ///< after a start of the workload; failures in it do not count
};

/// Makes one verdict of many checks, so that a single failure is not yet `unhealthy`.
///
/// Not thread-safe; one thread drives it.
class health_judge {
 public:
  /// Precondition: neither number is 0.
  explicit health_judge(const health_rule& rule);

  /// Forgets the verdict. A failure counts only if its check begins at `now + delay` or later.
  void begin(time_point now);

  /// The workload was started: failures do not count for `delay` again. The verdict stays.
  void forgive(time_point now);

  /// A check has passed. True if that changes the verdict.
  bool passed();

  /// A check that began at `begun` has failed. True if that changes the verdict.
  bool failed(time_point begun);

  [[nodiscard]] health verdict() const { return verdict_; }

 private:
  bool decide(health verdict);

  health_rule rule_;
  health verdict_ = health::unknown;
  std::uint32_t failures_ = 0;   ///< in a row, only those that count
  std::uint32_t successes_ = 0;  ///< in a row
  time_point forgiven_until_ = time_point::min();
};

}  // namespace tenure::core
