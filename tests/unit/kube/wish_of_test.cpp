#include "kube/wish_of.hpp"

#include <gtest/gtest.h>

namespace tenure::kube {
namespace {

using kind = traffic_wish::kind;
using std::chrono::seconds;

constexpr core::version seven{7};

struct WishOf : testing::Test {
  explicit WishOf(bool owns_workload = true)
      : one({.identity = "a",
             .when = core::resolve({}).value(),
             .owns_workload = owns_workload,
             .ends_with_workload = false}) {}

  void step(const core::election_event& what) { last = one.step({.now = now}, what); }
  /// The try that the election has begun.
  core::attempt acquiring() {
    for (int i = 0; i < 3; ++i) {
      for (const core::election_command& command : last) {
        if (const auto* c = std::get_if<core::command::acquire>(&command)) return c->number;
      }
      now = one.next_wake();
      step(core::event::woke{});
    }
    ADD_FAILURE() << "it does not ask for the lease";
    return {};
  }
  void grant(bool clean = true) {
    step(core::event::started{});
    step(core::event::observed{{.holders = {}, .retry_at = now}});
    step(core::event::granted{.number = acquiring(),
                              .version = seven,
                              .ttl = seconds(15),
                              .sent_at = now,
                              .released_cleanly = clean});
  }
  [[nodiscard]] traffic_wish wish() const { return wish_of(one, now); }

  core::time_point now{seconds(100)};
  core::election one;
  core::effects last;
};

struct WishOfReaders : WishOf {
  WishOfReaders() : WishOf(false) {}
};

TEST_F(WishOf, ACandidateIsAStandby) {
  EXPECT_EQ(wish(), traffic_wish{.what = kind::standby});
  step(core::event::started{});
  EXPECT_EQ(wish(), traffic_wish{.what = kind::standby});
}

TEST_F(WishOf, AHolderIsActiveOnceItsWorkloadRuns) {
  grant();
  EXPECT_EQ(wish(), (traffic_wish{.what = kind::gaining, .version = seven}));
  step(core::event::workload_started{seven});
  EXPECT_EQ(wish(), (traffic_wish{.what = kind::active, .version = seven}));
}

TEST_F(WishOf, WhileLockDelayPassesNobodyIsActive) {
  grant(false);
  ASSERT_EQ(one.view().phase, core::phase::pending);
  EXPECT_EQ(wish(), (traffic_wish{.what = kind::gaining, .version = seven}));
}

TEST_F(WishOfReaders, AreActiveWithTheLease) {
  grant();
  EXPECT_EQ(wish(), (traffic_wish{.what = kind::active, .version = seven}));
}

TEST_F(WishOf, ATermThatIsGivenUpIsNotActiveWhileItsWorkloadStops) {
  grant();
  step(core::event::workload_started{seven});
  step(core::event::resign{});
  ASSERT_EQ(one.view().phase, core::phase::draining);
  EXPECT_EQ(wish(), traffic_wish{.what = kind::standby});
}

TEST_F(WishOf, ALeaseThatHasRunOutIsNotActiveWhateverThePhase) {
  grant();
  step(core::event::workload_started{seven});
  now = one.view().lease->stop_at;
  ASSERT_EQ(one.view().phase, core::phase::active);
  EXPECT_EQ(wish(), traffic_wish{.what = kind::standby});
}

TEST_F(WishOf, WhatAnEarlierAgentHasLeftStaysWhileItMayGoOn) {
  step(core::event::workload_found{
      .version = seven, .stop_at = now + seconds(5), .kill_at = now + seconds(7)});
  EXPECT_EQ(wish(), traffic_wish{.what = kind::as_it_is});
  step(core::event::workload_exited{});
  EXPECT_EQ(wish(), traffic_wish{.what = kind::standby});
}

TEST_F(WishOf, AFoundWorkloadThatIsBeingStoppedIsNotActive) {
  step(core::event::workload_found{.version = seven,
                                   .stop_at = now + seconds(5),
                                   .kill_at = now + seconds(7),
                                   .stopping = true});
  EXPECT_EQ(wish(), traffic_wish{.what = kind::standby});
}

}  // namespace
}  // namespace tenure::kube
