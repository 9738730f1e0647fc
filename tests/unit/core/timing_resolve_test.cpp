// Settings that add up are completed; others are refused, and the message shows the sum.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "core/timing.hpp"

namespace tenure::core {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Resolve, DefaultsAreTheDocumentedOnes) {
  const timing t = *resolve({});
  EXPECT_EQ(t.ttl, 15s);
  EXPECT_EQ(t.renew, 5s);
  EXPECT_EQ(t.grace, 2s);
  EXPECT_EQ(t.kill_budget, 500ms);
  EXPECT_EQ(t.lock_delay, 1s);
  EXPECT_EQ(t.drain, 20s);
  EXPECT_EQ(t.drift_ppm, 10'000U);
}

/// A TTL alone is a valid configuration.
class TtlAlone : public ::testing::TestWithParam<duration> {};

TEST_P(TtlAlone, AddsUp) {
  const auto t = resolve({.ttl = GetParam()});
  ASSERT_TRUE(t) << t.error().front().text;
  EXPECT_EQ(t->renew, GetParam() / 3);
  EXPECT_EQ(t->grace, std::min<duration>(2s, GetParam() / 7));
  EXPECT_EQ(t->kill_budget, std::min<duration>(500ms, GetParam() / 20));
  EXPECT_EQ(t->lock_delay, t->kill_budget + std::min<duration>(500ms, GetParam() / 20));
  const budget b = t->of(t->ttl);
  EXPECT_LT(t->renew, b.stop_at);
  EXPECT_LT(b.stop_at, b.kill_at);
  EXPECT_LT(b.kill_at, b.safe_until);
  EXPECT_LT(b.safe_until, t->ttl);
  EXPECT_GE(t->try_timeout(), min_try_timeout);
}

INSTANTIATE_TEST_SUITE_P(Resolve, TtlAlone,
                         ::testing::Values(1s, 1100ms, 2s, 3s, 5s, 7s, 10s, 14s, 15s, 30s, 60s,
                                           10min, 1h, 24h),
                         [](const auto& one) {
                           return "Milliseconds" + std::to_string(one.param / 1ms);
                         });

TEST(Resolve, LockDelayFollowsTheKillBudgetThatWasAskedFor) {
  EXPECT_EQ(resolve({.kill_budget = 3s})->lock_delay, 3500ms) << "and the news has time to travel";
}

TEST(Resolve, WhatWasAskedForIsKept) {
  const timing t = *resolve({.ttl = 30s,
                             .renew = 4s,
                             .grace = 3s,
                             .kill_budget = 1s,
                             .lock_delay = 0s,
                             .drain = 0s,
                             .drift_ppm = 0});
  EXPECT_EQ(t.renew, 4s);
  EXPECT_EQ(t.grace, 3s);
  EXPECT_EQ(t.kill_budget, 1s);
  EXPECT_EQ(t.lock_delay, 0s);
  EXPECT_EQ(t.drain, 0s);
  EXPECT_EQ(t.of(30s).safe_until, 30s);
}

TEST(Resolve, ImpossibleBudgetPrintsTheWholeSum) {
  const auto t = resolve({.grace = 10s});
  ASSERT_FALSE(t);
  ASSERT_EQ(t.error().size(), 1U);
  EXPECT_EQ(t.error()[0].setting, "grace");
  EXPECT_EQ(t.error()[0].text,
            "the time budget does not add up: ttl 15s - drift 150ms (1 %) - kill_budget 500ms - "
            "grace 10s = stop_at 4.35s after the send, but a renewal is due after 5s and two "
            "tries of at least 50ms must fit before stop_at, which needs 5.1s; 750ms are "
            "missing. Raise ttl, or lower grace, kill_budget or renew");
}

TEST(Resolve, BudgetBelowZeroIsPrintedAsItIs) {
  const auto t = resolve({.grace = 15s});
  ASSERT_FALSE(t);
  EXPECT_THAT(t.error()[0].text,
              AllOf(HasSubstr("stop_at -650ms"), HasSubstr("5.75s are missing")));
}

TEST(Resolve, ImpossibleBudgetNamesASettingThatTheUserHasWritten) {
  EXPECT_EQ(resolve({.renew = 13s}).error()[0].setting, "renew");
  EXPECT_EQ(resolve({.grace = 12s}).error()[0].setting, "grace");
  EXPECT_EQ(resolve({.kill_budget = 14s}).error()[0].setting, "kill_budget");
}

TEST(Resolve, OneNanosecondDecides) {
  // stop_at is 12.35 s and two tries take 100 ms.
  EXPECT_TRUE(resolve({.renew = 12250ms}));
  EXPECT_FALSE(resolve({.renew = 12250ms + 1ns}));
}

struct refusal {
  timing_request asked;
  const char* setting;
  const char* words;
};

class OutOfRange : public ::testing::TestWithParam<refusal> {};

TEST_P(OutOfRange, IsRefusedByNameWithItsLimits) {
  const auto t = resolve(GetParam().asked);
  ASSERT_FALSE(t);
  EXPECT_EQ(t.error()[0].setting, GetParam().setting);
  EXPECT_EQ(t.error()[0].text, GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(
    Resolve, OutOfRange,
    ::testing::Values(
        refusal{{.ttl = 999ms}, "ttl", "ttl is 999ms; it must be from 1s to 24h"},
        refusal{{.ttl = 24h + 1s}, "ttl", "ttl is 86401s; it must be from 1s to 24h"},
        refusal{{.ttl = -1s}, "ttl", "ttl is -1s; it must be from 1s to 24h"},
        refusal{{.renew = 49ms}, "renew", "renew is 49ms; it must be from 50ms to 15s"},
        refusal{{.renew = 16s}, "renew", "renew is 16s; it must be from 50ms to 15s"},
        refusal{{.grace = -1ns}, "grace", "grace is -1ns; it must be from 0s to 15s"},
        refusal{
            {.kill_budget = 0s}, "kill_budget", "kill_budget is 0s; it must be from 1ms to 15s"},
        refusal{{.lock_delay = 16s}, "lock_delay", "lock_delay is 16s; it must be from 0s to 15s"},
        refusal{{.drain = 25h}, "drain", "drain is 25h; it must be from 0s to 24h"},
        refusal{{.drift_ppm = 200'001}, "drift", "drift is 20.0001 %; it must be at most 20 %"}),
    [](const auto& one) { return std::string(one.param.setting) + std::to_string(one.index); });

TEST(Resolve, AllProblemsAreReportedAtOnce) {
  const auto both = resolve({.ttl = 1ms, .drift_ppm = 500'000});
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().size(), 2U);
  const auto five =
      resolve({.renew = 0s, .grace = 99s, .kill_budget = 99s, .lock_delay = 99s, .drain = -1s});
  ASSERT_FALSE(five);
  EXPECT_EQ(five.error().size(), 5U);
}

TEST(Resolve, WhateverItAcceptsKeepsTheOrderOfTheDeadlines) {
  std::mt19937_64 bits(20'260'101);
  const auto upto = [&](duration most) {
    return duration(static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(most.count())));
  };
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    timing_request asked{.ttl = 1s + upto(bits() % 2 == 0 ? duration(10s) : duration(24h))};
    if (bits() % 2 == 0) asked.renew = upto(asked.ttl);
    if (bits() % 2 == 0) asked.grace = upto(asked.ttl);
    if (bits() % 2 == 0) asked.kill_budget = upto(asked.ttl);
    asked.drift_ppm = static_cast<std::uint32_t>(bits() % (max_drift_ppm + 1));
    const auto t = resolve(asked);
    if (!t) continue;
    ++accepted;
    const budget b = t->of(t->ttl);
    ASSERT_LE(b.safe_until, t->ttl);
    ASSERT_LT(b.kill_at, b.safe_until);
    ASSERT_LE(b.stop_at, b.kill_at);
    ASSERT_GE(t->try_timeout(), min_try_timeout) << "ttl " << text(t->ttl);
    ASSERT_LE(t->renew + tries_in_budget * t->try_timeout(), b.stop_at) << "two tries must fit";
  }
  EXPECT_GT(accepted, 2'000) << "the draw must not miss what it is meant to test";
}

}  // namespace
}  // namespace tenure::core
