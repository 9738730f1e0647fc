// Servers that say that they have too much to do, with a clock that is moved by hand. Whole clients
// that heed it: tests/contract/kubernetes/busy_test.cpp, and the hostile tests of etcd and Consul.
#include "stores/busy_servers.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/hand_loop.hpp"

namespace tenure::stores {
namespace {

using namespace std::chrono_literals;

core::duration after(const std::string& text) {
  return retry_after({.status = status_busy, .headers = {{.name = "retry-after", .value = text}}});
}

TEST(RetryAfter, IsInSecondsAndBounded) {
  EXPECT_EQ(after("3"), 3s);
  EXPECT_EQ(after("0"), 200ms);
  EXPECT_EQ(after("86400"), 60s);
  for (const char* text : {"", "-1", "soon", "Wed, 21 Oct 2015 07:28:00 GMT"}) {
    EXPECT_EQ(after(text), 200ms) << text;
  }
  EXPECT_EQ(retry_after({.status = status_busy}), 200ms);
}

class BusyServers : public testing::Test {
 protected:
  ~BusyServers() override { all_.close(); }

  void wait(core::duration within, bool is_urgent) {
    all_.wait(0, loop_.now() + within, is_urgent, patience_, [this] { ++again_; });
  }

  tests::hand_loop loop_;
  busy_servers all_{loop_, 3};
  busy_servers::patience patience_;
  int again_ = 0;
};

TEST_F(BusyServers, ArePassedOver) {
  EXPECT_EQ(all_.ready_from(0), 0U);
  all_.is_busy(0, 5s, "too many");
  all_.is_busy(1, 9s, "too many");
  EXPECT_EQ(all_.ready_from(0), 2U);
  EXPECT_EQ(all_.ready_from(2), 2U);
  all_.is_busy(2, 9s, "too many");
  EXPECT_EQ(all_.ready_from(1), 1U) << "all are";
  loop_.pass(5s);
  EXPECT_EQ(all_.ready_from(1), 0U);
  all_.answered(1);
  EXPECT_EQ(all_.ready_from(1), 1U);
}

TEST_F(BusyServers, AreAskedAgainWhenTheySayOrALittleLater) {
  all_.is_busy(0, 8s, "too many");
  wait(60s, true);
  loop_.pass(8s - 1ms);
  EXPECT_EQ(again_, 0);
  loop_.pass(2s + 1ms);
  EXPECT_EQ(again_, 1);
  EXPECT_FALSE(patience_.presses);
}

TEST_F(BusyServers, ArePressedOnceForALeaseThatWouldRunOut) {
  all_.is_busy(0, 30s, "too many");
  wait(4s, true);
  loop_.pass(2s);
  EXPECT_EQ(again_, 1);
  EXPECT_TRUE(patience_.presses);
  wait(2s, true);
  loop_.pass(2s - 1ms);
  EXPECT_EQ(again_, 1);
  loop_.pass(1ms);
  EXPECT_EQ(again_, 2) << "the deadline";
}

TEST_F(BusyServers, AreNotPressedForAnythingElse) {
  all_.is_busy(0, 30s, "too many");
  wait(4s, false);
  loop_.pass(4s - 1ms);
  EXPECT_EQ(again_, 0);
  loop_.pass(1ms);
  EXPECT_EQ(again_, 1);
}

TEST_F(BusyServers, CallNothingOnceClosed) {
  all_.is_busy(0, 1s, "too many");
  wait(60s, true);
  all_.close();
  loop_.pass(60s);
  EXPECT_EQ(again_, 0);
}

}  // namespace
}  // namespace tenure::stores
