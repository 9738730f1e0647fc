#pragma once

#include <cstdint>

namespace tenure::sim {

/// For sets of enumerators: a bit for each.
constexpr std::uint32_t bit(auto of) {
  return 1U << static_cast<unsigned>(of);
}

}  // namespace tenure::sim
