#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "world.hpp"

namespace tenure::shell {

/// Which kinds of faults one world has: in the swarm three to six of all that there are, and in one
/// world of four all of them. Where each world has a little of everything, none has enough of two
/// kinds for them to meet (Groce, Zhang, Eide, Chen, Regehr: Swarm Testing, ISSTA 2012).
class swarm {
 public:
  /// Of `all` kinds, numbered from 0.
  swarm(std::uint64_t all, bool is_swarm, rng& dice) : kinds_(all) {
    std::iota(kinds_.begin(), kinds_.end(), std::uint64_t{0});
    if (!is_swarm || dice.chance(250'000)) return;
    const auto few = std::min(all, static_cast<std::uint64_t>(dice.between(std::int64_t{3}, 6)));
    for (std::uint64_t i = 0; i < few; ++i) {
      std::swap(kinds_[i], kinds_[i + dice.below(all - i)]);
    }
    kinds_.resize(few);
  }

  [[nodiscard]] std::uint64_t draw(rng& dice) const { return kinds_[dice.below(kinds_.size())]; }

 private:
  std::vector<std::uint64_t> kinds_;
};

}  // namespace tenure::shell
