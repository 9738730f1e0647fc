#pragma once

#include <cstdint>

namespace tenure::core {

/// The fencing token: strictly larger at every change of holder, for ever, even if the lock object
/// is deleted and created again. 0 is "none"; no store ever grants it.
enum class version : std::uint64_t {};
inline constexpr version no_version{0};

constexpr std::uint64_t number(version v) {
  return static_cast<std::uint64_t>(v);
}

}  // namespace tenure::core
