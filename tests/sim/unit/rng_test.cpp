#include "rng.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace tenure::sim {
namespace {

using namespace std::chrono_literals;

constexpr int draws = 20'000;

/// A seed in a bug report must mean the same run on every machine and in every release.
TEST(Rng, SeedMeansTheSameNumbersForEver) {
  rng dice(1);
  EXPECT_EQ(dice.bits(), 0xcfc5d07f6f03c29bU);
  EXPECT_EQ(dice.bits(), 0xbf424132963fe08dU);
}

TEST(Rng, SeedsDiffer) {
  EXPECT_NE(rng(1).bits(), rng(2).bits());
}

TEST(Rng, BelowReachesBothEndsAndNothingElse) {
  rng dice(7);
  std::uint32_t seen = 0;
  for (int i = 0; i < draws; ++i) {
    const std::uint64_t drawn = dice.below(5);
    ASSERT_LT(drawn, 5U);
    seen |= 1U << drawn;
  }
  EXPECT_EQ(seen, 0b11111U);
}

TEST(Rng, BelowNothingIsZero) {
  EXPECT_EQ(rng(7).below(0), 0U);
}

TEST(Rng, BetweenIncludesBothEnds) {
  rng dice(7);
  bool least = false;
  bool most = false;
  for (int i = 0; i < draws; ++i) {
    const core::duration drawn = dice.between(-2ns, 2ns);
    ASSERT_GE(drawn, -2ns);
    ASSERT_LE(drawn, 2ns);
    least = least || drawn == -2ns;
    most = most || drawn == 2ns;
  }
  EXPECT_TRUE(least && most);
}

TEST(Rng, BetweenOfAnEmptyRangeIsItsBegin) {
  EXPECT_EQ(rng(7).between(5s, 3s), 5s);
}

/// Faults last a millisecond as often as a minute: each order of magnitude has its share.
TEST(Rng, SpreadGivesEachOrderOfMagnitudeItsShare) {
  rng dice(7);
  int below_ten_ms = 0;
  for (int i = 0; i < draws; ++i) {
    const core::duration drawn = dice.spread(1ms, 1000ms);
    ASSERT_GE(drawn, 1ms);
    ASSERT_LE(drawn, 1000ms);
    if (drawn < 10ms) ++below_ten_ms;
  }
  EXPECT_GT(below_ten_ms, draws / 4);
  EXPECT_LT(below_ten_ms, draws / 2);
}

TEST(Rng, ChanceIsOfAMillion) {
  rng dice(7);
  int hits = 0;
  for (int i = 0; i < draws; ++i) {
    if (dice.chance(250'000)) ++hits;
    ASSERT_FALSE(dice.chance(0));
    ASSERT_TRUE(dice.chance(1'000'000));
  }
  EXPECT_NEAR(hits, 0.25 * draws, 0.02 * draws);
}

}  // namespace
}  // namespace tenure::sim
