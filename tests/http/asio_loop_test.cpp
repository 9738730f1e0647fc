#include "http/asio_loop.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>

#include "base/boot_time.hpp"

namespace tenure::http {
namespace {

using namespace std::chrono_literals;

struct scene {
  /// Turns the loop until `count` calls were made; the patience of a test, not a measurement.
  void turn_until(int count) {
    const core::time_point until = base::boot_now() + 30s;
    while (calls < count && base::boot_now() < until) {
      io.restart();
      io.run_one_for(100ms);
    }
  }

  boost::asio::io_context io;
  asio_loop loop{io.get_executor()};
  int calls = 0;
};

TEST(AsioLoop, CallsNotBeforeTheInstantAndOnce) {
  scene s;
  base::timer timer(s.loop);
  const core::time_point when = base::boot_now() + 20ms;
  timer.at(when, [&] { ++s.calls; });
  s.turn_until(1);
  ASSERT_EQ(s.calls, 1);
  EXPECT_GE(base::boot_now(), when);
  EXPECT_EQ(timer.when(), core::never);
  s.io.restart();
  s.io.run();  // returns: nothing keeps it busy any more
  EXPECT_EQ(s.calls, 1);
}

TEST(AsioLoop, AnInstantInThePastIsDueAtOnceEvenTheEpoch) {
  scene s;
  base::timer timer(s.loop);
  timer.at(core::time_point{}, [&] { ++s.calls; });
  EXPECT_EQ(s.calls, 0) << "not from within the call";
  s.turn_until(1);
  timer.at(base::boot_now() - 1h, [&] { ++s.calls; });
  s.turn_until(2);
  EXPECT_EQ(s.calls, 2);
}

TEST(AsioLoop, ALaterInstantReplacesTheEarlierOneAndNeverMeansNever) {
  scene s;
  int other = 0;
  base::timer timer(s.loop);
  base::timer clock(s.loop);
  timer.at(base::boot_now() + 1ms, [&] { ++other; });
  timer.at(core::never, [&] { ++other; });
  clock.at(base::boot_now() + 20ms, [&] { ++s.calls; });
  s.turn_until(1);
  EXPECT_EQ(other, 0);
}

TEST(AsioLoop, AnEarlierTimerIsNotHeldUpByALaterOne) {
  scene s;
  base::timer late(s.loop);
  base::timer early(s.loop);
  late.at(base::boot_now() + 1h, [&] { s.calls += 100; });
  early.at(base::boot_now() + 1ms, [&] { ++s.calls; });
  s.turn_until(1);
  EXPECT_EQ(s.calls, 1);
}

TEST(AsioLoop, ATimerThatWasCancelledAndSetAgainIsHeard) {
  scene s;
  base::timer timer(s.loop);
  timer.at(base::boot_now() + 1h, [&] { s.calls += 100; });
  timer.cancel();
  timer.at(base::boot_now() + 1ms, [&] { ++s.calls; });
  s.turn_until(1);
  EXPECT_EQ(s.calls, 1);
}

TEST(AsioLoop, ATimerMaySetItselfAgainAndIsSilentOnceDestroyed) {
  scene s;
  auto timer = std::make_unique<base::timer>(s.loop);
  const std::function<void()> again = [&] {
    if (++s.calls < 3) timer->at(base::boot_now(), again);
  };
  timer->at(base::boot_now(), again);
  s.turn_until(3);
  ASSERT_EQ(s.calls, 3);
  timer->at(base::boot_now(), again);
  timer.reset();
  s.io.restart();
  s.io.run();
  EXPECT_EQ(s.calls, 3);
}

TEST(AsioLoop, WhatIsPostedIsDoneInOrderAndNotFromWithinTheCall) {
  scene s;
  std::string done;
  s.loop.post([&] { done += "a"; });
  s.loop.post([&] { done += "b"; });
  EXPECT_EQ(done, "");
  s.io.run();
  EXPECT_EQ(done, "ab");
}

TEST(AsioLoop, ATimerMayOutliveItsLoop) {
  scene s;
  auto loop = std::make_unique<asio_loop>(s.io.get_executor());
  base::timer timer(*loop);
  timer.after(1ms, [&] { ++s.calls; });
  loop.reset();
  s.io.run();
  EXPECT_EQ(s.calls, 0);
}

}  // namespace
}  // namespace tenure::http
