#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "settings/agent.hpp"

namespace tenure::config {

enum class source : std::uint8_t { fallback, file, environment, flag };

/// Where the value of a setting came from.
struct origin {
  source from = source::fallback;
  std::string where;  ///< "tenure.yaml:3:1", "TENURE_TTL", "--ttl"; empty for a default

  friend bool operator==(const origin&, const origin&) = default;
};

/// Settings that were checked as a whole, and where each came from. Made by `load` only.
struct configuration : settings::agent {
  std::array<origin, setting_count> origins{};  ///< use `origin_of`
  std::vector<problem> warnings;                ///< works, but should be said in the log

  [[nodiscard]] const origin& origin_of(setting which) const {
    return origins[static_cast<std::size_t>(which)];
  }
};

/// "TERM" for 15. Precondition: `number` is that of a signal in the table.
std::string_view signal_name(int number);

/// Every setting with its value, and its source as a comment. It is itself a configuration file
/// that loads to the same settings (durations to the microsecond); if a URL has a query, which is
/// not shown, it is refused.
std::string effective(const configuration& s);

}  // namespace tenure::config
