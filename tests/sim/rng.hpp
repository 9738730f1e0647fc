#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/clock.hpp"

namespace tenure::sim {

/// xoshiro256++, with its own integer distributions.
///
/// Those of the standard library differ between implementations; here a seed must mean the same
/// run everywhere, for ever. Not thread-safe.
class rng {
 public:
  explicit rng(std::uint64_t seed) {
    for (std::uint64_t& word : state_) word = split_mix(seed);
  }

  /// 64 random bits.
  std::uint64_t bits() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// From 0 to `n - 1`; 0 if `n` is 0. The bias is below 2^-32 for every `n` used here.
  std::uint64_t below(std::uint64_t n) {
    if (n < (std::uint64_t{1} << 32)) return ((bits() >> 32) * n) >> 32;
    return bits() % n;
  }

  /// From `least` to `most`, both included.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    if (most <= least) return least;
    return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least) + 1));
  }
  core::duration between(core::duration least, core::duration most) {
    return core::duration(between(least.count(), most.count()));
  }

  /// Like `between`, with every order of magnitude equally likely. Precondition: `least` > 0.
  core::duration spread(core::duration least, core::duration most) {
    if (most <= least) return least;
    const auto octaves =
        static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(most / least)));
    const core::duration low = least * (std::int64_t{1} << below(octaves));
    return between(low, low * 2 < most ? low * 2 : most);
  }

  /// True `per_million` times in a million.
  bool chance(std::uint32_t per_million) {
    return per_million != 0 && below(1'000'000) < per_million;
  }

 private:
  static std::uint64_t split_mix(std::uint64_t& seed) {
    seed += 0x9e3779b97f4a7c15U;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace tenure::sim
