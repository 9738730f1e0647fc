// The arithmetic of the time budget.
#include "core/timing.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace tenure::core {
namespace {

using namespace std::chrono_literals;

TEST(Budget, OfTheDefaults) {
  const budget b = resolve({})->of(15s);
  EXPECT_EQ(b.safe_until, 14850ms);
  EXPECT_EQ(b.kill_at, 14350ms);
  EXPECT_EQ(b.stop_at, 12350ms);
}

TEST(Budget, DriftIsRoundedAgainstTheHolder) {
  timing t = *resolve({});
  t.drift_ppm = 1;
  EXPECT_EQ(t.of(1ns).safe_until, 0ns) << "a millionth of a nanosecond counts as one";
  EXPECT_EQ(t.of(1ms).safe_until, 1ms - 1ns);
  EXPECT_EQ(t.of(1ms + 1ns).safe_until, 1ms + 1ns - 2ns);
}

TEST(Budget, DriftOfADayDoesNotOverflow) {
  timing t = *resolve({});
  t.drift_ppm = max_drift_ppm;
  EXPECT_EQ(t.of(24h).safe_until, duration(24h) * 4 / 5);
}

TEST(Budget, NoDriftIsTheWholeTtl) {
  timing t = *resolve({});
  t.drift_ppm = 0;
  EXPECT_EQ(t.of(15s).safe_until, 15s);
}

TEST(Fits, AskedForTtlFitsAndAShorterGrantNeedNot) {
  const timing t = *resolve({});
  EXPECT_TRUE(t.fits(15s));
  EXPECT_TRUE(t.fits(60s));
  EXPECT_FALSE(t.fits(7s));
  EXPECT_FALSE(t.fits(0s));
  EXPECT_FALSE(t.fits(-1s));
}

TEST(Fits, EndsExactlyWhereTwoTriesDoNotFit) {
  timing t = *resolve({});
  t.drift_ppm = 0;
  const duration least = t.renew + tries_in_budget * min_try_timeout + t.grace + t.kill_budget;
  EXPECT_TRUE(t.fits(least));
  EXPECT_FALSE(t.fits(least - 1ns));
}

TEST(TryTimeout, SharesTheTimeFromADueRenewalToStopAt) {
  EXPECT_EQ(resolve({})->try_timeout(), (12350ms - 5s) / 2);
}

TEST(TryTimeout, IsNoLongerThanTheRenewalInterval) {
  EXPECT_EQ(resolve({.ttl = 60s, .renew = 2s})->try_timeout(), 2s);
}

TEST(Explain, SaysWhatTheNumbersMean) {
  const consequences c = explain(*resolve({}), 500ms);
  EXPECT_EQ(c.worst_failover, 15s + 500ms + 1s);
  EXPECT_EQ(c.detection, 12350ms);
  EXPECT_EQ(c.margin, 650ms);
  EXPECT_EQ(c.tries_window, 7350ms);
  EXPECT_EQ(c.try_timeout, 3675ms);
  EXPECT_DOUBLE_EQ(c.writes_per_hour, 720.0);
}

struct spelled {
  duration value;
  const char* text;
};

class DurationText : public ::testing::TestWithParam<spelled> {};

TEST_P(DurationText, IsTheShortestThatAPersonReads) {
  EXPECT_EQ(text(GetParam().value), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Timing, DurationText,
    ::testing::Values(spelled{0s, "0s"}, spelled{15s, "15s"}, spelled{1500ms, "1.5s"},
                      spelled{500ms, "500ms"}, spelled{12350ms, "12.35s"}, spelled{1us, "1us"},
                      spelled{1ns, "1ns"}, spelled{999ns, "999ns"}, spelled{20ms, "20ms"},
                      spelled{24h, "24h"}, spelled{1h + 1s, "3601s"}, spelled{-1500ms, "-1.5s"},
                      spelled{-1ns, "-1ns"}, spelled{duration(1s) * 2 / 3, "666.667ms"},
                      spelled{1000ms, "1s"}, spelled{3675ms, "3.675s"}, spelled{-400ms, "-400ms"}),
    [](const auto& one) { return "Case" + std::to_string(one.index); });

}  // namespace
}  // namespace tenure::core
