#include "runtime/clock_watch.hpp"

#include <gtest/gtest.h>

namespace tenure::runtime {
namespace {

using namespace std::chrono_literals;

constexpr core::duration year = 8766h;

/// As if so much time had passed since the first reading.
base::clock_reading after(core::duration passed, core::duration asleep = 0s,
                          core::duration jumped = 0s) {
  return {.boot = core::time_point(1h + passed),
          .asleep = 10min + asleep,
          .wall = 55 * year + passed + jumped};
}

struct ClockWatch : testing::Test {
  clock_watch watch{after(0s)};
};

TEST_F(ClockWatch, TimeThatPassesIsNoNews) {
  const clock_news news = watch.look(after(24h));
  EXPECT_EQ(news.slept, 0s);
  EXPECT_EQ(news.late, 0s);
  EXPECT_EQ(news.wall_jumped, 0s);
}

TEST_F(ClockWatch, SleepIsNoticedOnce) {
  EXPECT_EQ(watch.look(after(1h, 40min)).slept, 40min);
  EXPECT_EQ(watch.look(after(2h, 40min)).slept, 0s);
  EXPECT_EQ(watch.look(after(3h, 45min)).slept, 5min);
}

TEST_F(ClockWatch, WhatIsNotMoreThanItsBoundIsNoNews) {
  EXPECT_EQ(watch.look(after(1s, sleep_noticed)).slept, 0s);
  watch.await(after(5s).boot - lateness_noticed);
  EXPECT_EQ(watch.look(after(5s)).late, 0s);
  EXPECT_EQ(watch.look(after(9s, 0s, wall_jump_noticed)).wall_jumped, 0s);
}

TEST_F(ClockWatch, TimerThatFiresLateHadNoProcessor) {
  watch.await(after(7s).boot);
  EXPECT_EQ(watch.look(after(10s)).late, 3s);
  EXPECT_EQ(watch.look(after(20s)).late, 0s) << "that was said";
  watch.await(after(25s).boot);
  EXPECT_EQ(watch.look(after(24s)).late, 0s) << "it is not due yet";
}

TEST_F(ClockWatch, TimerForThePastIsDueAtTheLastLook) {
  watch.look(after(1h));
  watch.await(after(1s).boot);
  EXPECT_EQ(watch.look(after(1h + 1ms)).late, 0s);
  watch.await(after(1s).boot);
  EXPECT_EQ(watch.look(after(1h + 3s)).late, 3s - 1ms) << "it fires at once, unless we are held up";
}

TEST_F(ClockWatch, TimerThatWasSleptThroughIsNotLate) {
  watch.await(after(10s).boot);
  const clock_news news = watch.look(after(1h, 1h - 10s));
  EXPECT_EQ(news.slept, 1h - 10s);
  EXPECT_EQ(news.late, 0s);
}

TEST_F(ClockWatch, WallClockThatIsSetIsNoticedInBothDirections) {
  EXPECT_EQ(watch.look(after(1s, 0s, 2h)).wall_jumped, 2h);
  EXPECT_EQ(watch.look(after(2s, 0s, 2h)).wall_jumped, 0s);
  EXPECT_EQ(watch.look(after(3s, 0s, -1h)).wall_jumped, -3h);
}

TEST_F(ClockWatch, WallClockGoesOnInASleepAndHasNotJumped) {
  EXPECT_EQ(watch.look(after(8h, 8h)).wall_jumped, 0s);
}

}  // namespace
}  // namespace tenure::runtime
