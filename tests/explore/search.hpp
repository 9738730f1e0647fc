#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "small_world.hpp"

namespace tenure::explore {

struct bounds {
  std::uint8_t ticks = 200;
  std::uint8_t faults = 1;
  std::uint32_t kinds = ~0U;  ///< of faults: a bit for each `act`
  unsigned jobs = 1;
  std::uint64_t states = 0;  ///< stop after so many; 0: no limit
};

struct findings {
  std::uint64_t states = 0;  ///< different ones
  std::uint64_t moves = 0;
  std::uint32_t depth = 0;  ///< the most moves to a new state
  bool complete = false;    ///< all states within the bounds were seen
  double seconds = 0;
  rule broken = rule::none;
  std::vector<std::string> trace;  ///< of the broken rule: what happened, in order
};

/// Tries every order of everything that may happen within the bounds.
findings search(const bounds& within);

}  // namespace tenure::explore
