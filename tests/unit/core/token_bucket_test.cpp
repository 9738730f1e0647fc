#include "core/token_bucket.hpp"

#include <gtest/gtest.h>

namespace tenure::core {
namespace {

using namespace std::chrono_literals;

constexpr time_point start{1'000s};

TEST(TokenBucket, WhatFitsIsTakenWithoutAWait) {
  token_bucket b(100, 10);
  EXPECT_EQ(b.take(start, 60), 0s);
  EXPECT_EQ(b.take(start, 40), 0s);
  EXPECT_GT(b.take(start, 1), 0s);
}

TEST(TokenBucket, WhatIsTooMuchWaitsUntilItHasBeenFilledAgain) {
  token_bucket b(100, 10);
  EXPECT_EQ(b.take(start, 120), 2s);
  EXPECT_EQ(b.take(start + 1s, 0), 1s);
  EXPECT_EQ(b.take(start + 2s, 0), 0s);
}

TEST(TokenBucket, NeverHoldsMoreThanItsCapacity) {
  token_bucket b(100, 10);
  EXPECT_EQ(b.take(start, 100), 0s);
  EXPECT_EQ(b.take(start + 24h, 110), 1s);
}

TEST(TokenBucket, LetsAMeanOfItsRatePassForEver) {
  token_bucket b(100, 10);
  time_point now = start;
  std::int64_t taken = 0;
  while (now < start + 1'000s) {
    now += b.take(now, 7);
    taken += 7;
  }
  EXPECT_GE(taken, 10'000);
  EXPECT_LE(taken, 10'000 + 100 + 7);
}

TEST(TokenBucket, WhatIsDroppedCostsNothing) {
  token_bucket b(100, 10);
  int taken = 0;
  for (int i = 0; i < 1'000'000; ++i) taken += b.admits(start) ? 1 : 0;
  EXPECT_EQ(taken, 100);
  EXPECT_FALSE(b.admits(start + 99ms));
  EXPECT_TRUE(b.admits(start + 101ms));
  for (int i = 0; i < 1'000'000; ++i) taken += b.admits(start + 2s) ? 1 : 0;
  EXPECT_LE(taken, 100 + 20);
}

}  // namespace
}  // namespace tenure::core
