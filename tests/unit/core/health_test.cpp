#include "core/health.hpp"

#include <gtest/gtest.h>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

constexpr time_point start = start_of_talk;

/// Three failures or two successes in a row decide; 10 s after a start no failure counts.
health_judge begun() {
  health_judge j({.failures = 3, .successes = 2, .delay = 10s});
  j.begin(start);
  return j;
}

health_judge healthy() {
  health_judge j = begun();
  j.passed();
  j.passed();
  return j;
}

TEST(HealthJudge, KnowsNothingBeforeEnoughChecksAgree) {
  health_judge j = begun();
  EXPECT_EQ(j.verdict(), health::unknown);
  EXPECT_FALSE(j.passed());
  EXPECT_EQ(j.verdict(), health::unknown);
  EXPECT_TRUE(j.passed());
  EXPECT_EQ(j.verdict(), health::healthy);
  EXPECT_FALSE(j.passed()) << "no news";
}

TEST(HealthJudge, OnlyFailuresInARowMakeItUnhealthy) {
  health_judge j = healthy();
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(j.failed(start + 20s));
    EXPECT_FALSE(j.failed(start + 22s));
    EXPECT_FALSE(j.passed());
  }
  EXPECT_FALSE(j.failed(start + 30s));
  EXPECT_FALSE(j.failed(start + 32s));
  EXPECT_EQ(j.verdict(), health::healthy);
  EXPECT_TRUE(j.failed(start + 34s));
  EXPECT_EQ(j.verdict(), health::unhealthy);
  EXPECT_FALSE(j.failed(start + 36s)) << "no news";
}

TEST(HealthJudge, OnlySuccessesInARowMakeItHealthyAgain) {
  health_judge j = healthy();
  for (int i = 0; i < 3; ++i) j.failed(start + 20s);
  ASSERT_EQ(j.verdict(), health::unhealthy);
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(j.passed());
    EXPECT_FALSE(j.failed(start + 30s));
  }
  EXPECT_FALSE(j.passed());
  EXPECT_TRUE(j.passed());
}

TEST(HealthJudge, NoFailureOfACheckThatBeganInTheDelayCounts) {
  health_judge j = begun();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(j.failed(start + 10s - 1ns));
  EXPECT_EQ(j.verdict(), health::unknown);
  EXPECT_FALSE(j.failed(start + 10s));
  EXPECT_FALSE(j.failed(start + 12s));
  EXPECT_TRUE(j.failed(start + 14s));
}

TEST(HealthJudge, FailureInTheDelayStillBreaksARowOfSuccesses) {
  health_judge j = begun();
  j.passed();
  j.failed(start + 1s);
  EXPECT_FALSE(j.passed());
  EXPECT_TRUE(j.passed());
}

TEST(HealthJudge, SuccessInTheDelayCountsAtOnce) {
  health_judge j({.failures = 1, .successes = 1, .delay = 1h});
  j.begin(start);
  EXPECT_TRUE(j.passed());
}

TEST(HealthJudge, BeginForgetsWhatTheWorkloadBeforeWas) {
  health_judge j = healthy();
  for (int i = 0; i < 3; ++i) j.failed(start + 20s);
  j.begin(start + 30s);
  EXPECT_EQ(j.verdict(), health::unknown);
  EXPECT_FALSE(j.failed(start + 39s));
  EXPECT_FALSE(j.passed()) << "one of two";
}

TEST(HealthJudge, ForgiveKeepsTheVerdictAndGivesTheDelayAgain) {
  health_judge j = healthy();
  j.failed(start + 20s);
  j.failed(start + 21s);
  j.forgive(start + 22s);
  EXPECT_EQ(j.verdict(), health::healthy);
  EXPECT_FALSE(j.failed(start + 23s));
  EXPECT_FALSE(j.failed(start + 32s));
  EXPECT_FALSE(j.failed(start + 33s));
  EXPECT_TRUE(j.failed(start + 34s));
}

TEST(HealthJudge, WithoutADelayTheFirstFailureCounts) {
  health_judge j({.failures = 1, .successes = 1, .delay = 0s});
  j.begin(start);
  EXPECT_TRUE(j.failed(start));
}

}  // namespace
}  // namespace tenure::core::testing
