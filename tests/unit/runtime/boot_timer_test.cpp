#include "runtime/boot_timer.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>

#include "os/boot_time.hpp"

namespace tenure::runtime {
namespace {

using namespace std::chrono_literals;

/// Turns the loop until `count` calls were made; the patience of a test, not a measurement.
void turn_until(boost::asio::io_context& io, const int& calls, int count) {
  const core::time_point until = os::boot_now() + 30s;
  while (calls < count && os::boot_now() < until) io.run_one_for(100ms);
}

TEST(BootTimer, FiresNotBeforeItsInstantAndOnceForIt) {
  boost::asio::io_context io;
  int calls = 0;
  boot_timer timer(io.get_executor(), [&] { ++calls; });
  const core::time_point when = os::boot_now() + 20ms;
  timer.set(when);
  turn_until(io, calls, 1);
  ASSERT_EQ(calls, 1);
  EXPECT_GE(os::boot_now(), when);
  io.poll();
  EXPECT_EQ(calls, 1);
}

TEST(BootTimer, AnInstantInThePastFiresAtOnceEvenTheEpoch) {
  boost::asio::io_context io;
  int calls = 0;
  boot_timer timer(io.get_executor(), [&] { ++calls; });
  timer.set(core::time_point{});
  turn_until(io, calls, 1);
  timer.set(os::boot_now() - 1h);
  turn_until(io, calls, 2);
  EXPECT_EQ(calls, 2);
}

TEST(BootTimer, ALaterInstantReplacesTheEarlierOneAndNeverMeansNever) {
  boost::asio::io_context io;
  int early = 0;
  int other = 0;
  boot_timer timer(io.get_executor(), [&] { ++early; });
  boot_timer clock(io.get_executor(), [&] { ++other; });
  timer.set(os::boot_now() + 1ms);
  timer.set(core::never);
  clock.set(os::boot_now() + 20ms);
  turn_until(io, other, 1);
  EXPECT_EQ(early, 0);
}

TEST(BootTimer, MaySetItselfAgainFromItsOwnCallAndIsSilentOnceDestroyed) {
  boost::asio::io_context io;
  int calls = 0;
  std::unique_ptr<boot_timer> timer;
  timer = std::make_unique<boot_timer>(io.get_executor(), [&] {
    if (++calls < 3) timer->set(os::boot_now());
  });
  timer->set(os::boot_now());
  turn_until(io, calls, 3);
  ASSERT_EQ(calls, 3);
  timer->set(os::boot_now());
  timer.reset();
  io.restart();
  io.run();  // returns: nothing keeps it busy any more
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace tenure::runtime
