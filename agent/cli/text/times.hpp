#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/clock.hpp"

/// Times in a form for people.
namespace tenure::cli {

inline double in_seconds(core::duration d) {
  return std::chrono::duration<double>(d).count();
}

/// "2026-01-31 12:00:00Z": without fractions of a second.
std::string moment(std::int64_t unix_ms);

/// "850ms", "12s", "3m05s", "2h10m", "4d03h": two units at most.
std::string span(std::int64_t ms);

/// "11.2s", "3m05s": for time left, where tenths matter.
std::string remainder(std::int64_t ms);

}  // namespace tenure::cli
