#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <ranges>

namespace tenure::stores {

/// The smallest slot number that no holder has; `slot` gives a holder's number.
template <std::ranges::forward_range Holders, class Slot>
std::uint32_t free_slot(const Holders& holders, Slot slot) {
  std::uint32_t number = 0;
  while (std::ranges::find(holders, number, slot) != std::ranges::end(holders)) ++number;
  return number;
}

}  // namespace tenure::stores
