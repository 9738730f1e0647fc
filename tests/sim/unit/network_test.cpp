#include "network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "unit/calm_world.hpp"

namespace tenure::sim {
namespace {

using namespace std::chrono_literals;

struct Network : testing::Test {
  calm_world world{calm_mix(store_family::expiring)};
  network net{world.at};

  static message request(mail kind, std::uint8_t pod = 0) {
    message m;
    m.kind = kind;
    m.pod = pod;
    return m;
  }

  /// Sends `count` requests; how many reach the store.
  int reach(int count, mail kind = mail::acquire) {
    for (int i = 0; i < count; ++i) net.to_store(request(kind));
    int arrived = 0;
    while (const auto e = world.next()) {
      if (e->what == happening::store_receives) ++arrived;
      world.at.letters.take(e->arg);
    }
    return arrived;
  }
};

TEST_F(Network, CalmLosesNothingAndTakesItsDelay) {
  net.to_store(request(mail::acquire));
  const auto e = world.next();
  ASSERT_TRUE(e);
  EXPECT_EQ(e->what, happening::store_receives);
  EXPECT_EQ(e->at, world_time(1ms));
  EXPECT_EQ(reach(100), 100);
}

TEST_F(Network, CutRequestsReachNobodyAndSomeFailAtOnce) {
  net.cut(0, true, false);
  for (int i = 0; i < 100; ++i) net.to_store(request(mail::renew));
  int failures = 0;
  while (const auto e = world.next()) {
    ASSERT_EQ(e->what, happening::agent_receives);
    const message m = world.at.letters.take(e->arg);
    EXPECT_EQ(m.kind, mail::failed);
    EXPECT_EQ(m.was, mail::renew);
    ++failures;
  }
  EXPECT_GT(failures, 20);
  EXPECT_LT(failures, 80);
}

TEST_F(Network, CutIsOfOnePodAndHeals) {
  net.cut(1, true, true);
  EXPECT_EQ(reach(10), 10);
  net.cut(0, true, false);
  net.heal(0);
  EXPECT_EQ(reach(10), 10);
}

/// The store has done it, and nobody learns: the outcome is unknown.
TEST_F(Network, CutAnswersLeaveRequestsAlone) {
  net.cut(0, false, true);
  EXPECT_EQ(reach(10), 10);
  for (int i = 0; i < 20; ++i) net.to_agent(request(mail::granted));
  for (const message& m : world.answers()) {
    EXPECT_EQ(m.kind, mail::failed);
    EXPECT_EQ(m.was, mail::acquire);
  }
}

TEST_F(Network, StormLosesAndDoubles) {
  world.drawn.loss_ppm = 300'000;
  net.storm(true);
  EXPECT_NEAR(reach(1000), 700, 100);
  world.drawn.loss_ppm = 0;
  world.drawn.twice_ppm = 300'000;
  EXPECT_NEAR(reach(1000), 1300, 100);
  net.calm();
  EXPECT_EQ(reach(100), 100);
}

TEST_F(Network, SlowPathDelaysOnlyTheKindsThatItPicks) {
  world.drawn.picked_mail = 1U << static_cast<unsigned>(mail::release);
  world.drawn.picked_late_ppm = 1'000'000;
  net.slow_path(true);
  net.to_store(request(mail::release));
  net.to_store(request(mail::renew));
  const auto first = world.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(world.at.letters.take(first->arg).kind, mail::renew);
  EXPECT_EQ(first->at, world_time(1ms));
  const auto second = world.next();
  ASSERT_TRUE(second);
  EXPECT_GE(second->at, world_time(world.drawn.late_most / 16));
}

/// A stream is what TCP makes of the network: nothing in it overtakes anything.
TEST_F(Network, StreamElementsKeepTheirOrder) {
  world.drawn.delay_most = 1s;
  message open = request(mail::open_watch);
  open.stream = 1;
  net.stream_opened(open);
  for (std::uint64_t i = 1; i <= 50; ++i) {
    message m = request(mail::shown);
    m.as_of = core::version{i};
    net.stream(m);
  }
  std::uint64_t last = 0;
  for (const message& m : world.answers()) {
    EXPECT_EQ(core::number(m.as_of), last + 1);
    last = core::number(m.as_of);
  }
  EXPECT_EQ(last, 50U);
}

TEST_F(Network, StreamOverACutLinkBreaksAndIsNoticed) {
  message open = request(mail::open_watch);
  open.stream = 1;
  net.stream_opened(open);
  net.cut(0, false, true);
  net.stream(request(mail::shown));
  EXPECT_FALSE(net.streaming(0, 0));
  bool noticed = false;
  while (const auto e = world.next()) {
    noticed = noticed || (e->what == happening::stream_breaks && e->arg == 1);
  }
  EXPECT_TRUE(noticed);
}

}  // namespace
}  // namespace tenure::sim
