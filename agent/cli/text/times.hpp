#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"

/// Times as people read them.
namespace tenure::cli {

inline double in_seconds(core::duration d) {
  return std::chrono::duration<double>(d).count();
}

/// Of "2026-01-31T12:00:00.250Z".
std::optional<std::int64_t> unix_ms_of(std::string_view rfc3339);

/// "2026-01-31 12:00:00Z": without what is below a second.
std::string moment(std::string_view rfc3339);

/// "850ms", "12s", "3m05s", "2h10m", "4d03h": two units at most.
std::string span(std::int64_t ms);

/// "11.2s", "3m05s": of what is left, where a tenth counts.
std::string remainder(std::int64_t ms);

}  // namespace tenure::cli
