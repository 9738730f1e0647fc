#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"

/// Versions and instants as SQLite's integers, which are signed.
namespace tenure::stores::sqlite {

inline constexpr core::version largest_version{
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())};

inline std::int64_t column(core::version v) {
  return static_cast<std::int64_t>(core::number(v));
}
inline std::int64_t column(core::time_point t) {
  return t.time_since_epoch().count();
}
inline core::time_point instant(std::int64_t ns) {
  return core::time_point(core::duration(ns));
}
inline core::version version_of(std::int64_t number) {
  return core::version{static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0))};
}

}  // namespace tenure::stores::sqlite
