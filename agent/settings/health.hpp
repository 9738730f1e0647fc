#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"

namespace tenure::settings {

/// When the workload's health is checked.
enum class health_time : std::uint8_t { active, always };

/// How the workload's health is checked. If there are several kinds, each must succeed.
struct health {
  std::string http{};                  ///< a URL; empty: no HTTP check
  std::vector<std::string> command{};  ///< argv; empty: no command
  std::string file{};                  ///< empty: no file
  std::optional<core::duration> file_age{};
  std::optional<health_time> when{};  ///< not given: depends on how the workload is run
  core::duration interval{};
  core::duration timeout{};  ///< no longer than `interval`
  std::uint32_t failures = 1;
  std::uint32_t successes = 1;
  core::duration delay{};

  /// True if anything is checked.
  [[nodiscard]] bool is_checked() const {
    return !http.empty() || !command.empty() || !file.empty();
  }
  /// The longest that a failing workload goes unnoticed, once it has run for `delay`.
  [[nodiscard]] core::duration noticed_within() const { return failures * interval + timeout; }

  friend bool operator==(const health&, const health&) = default;
};

}  // namespace tenure::settings
