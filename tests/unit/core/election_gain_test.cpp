// From the grant to a running workload.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Gain, LetsLockDelayPassThenArmsTheGuardThenStartsTheWorkload) {
  conversation c;
  c.starts();
  EXPECT_EQ(c.at(10ms).is_granted(), "candidate > pending, publish");
  EXPECT_EQ(c.next_wake(), 510ms);
  EXPECT_EQ(c.at(510ms - 1ns).wakes(), "");
  EXPECT_EQ(c.at(510ms).wakes(), "pending > active, publish, arm 5 until 14.35s, start 5");
  EXPECT_EQ(c.at(600ms).workload_starts(), "publish");
  EXPECT_TRUE(c.view().workload_running);
}

TEST(Gain, GuardStopsTheWorkloadByItselfBeforeItKillsIt) {
  conversation c;
  c.starts();
  c.at(10ms).is_granted(five, 0s, 15s, true);
  EXPECT_EQ(c.armed.stop_at, c.view().lease->stop_at);
  EXPECT_EQ(c.armed.kill_at, c.view().lease->kill_at);
  EXPECT_EQ(c.armed.kill_at - c.armed.stop_at, c.subject().settings().when.grace);
}

TEST(Gain, PreviousHolderThatReleasedCleanlyNeedsNoLockDelay) {
  conversation c;
  c.starts();
  EXPECT_EQ(c.at(10ms).is_granted(five, 0s, 15s, true),
            "candidate > active, publish, arm 5 until 14.35s, start 5");
}

TEST(Gain, PendingIsNotAHolderInAnyAnswer) {
  conversation c;
  c.starts();
  c.is_granted();
  EXPECT_FALSE(c.is_valid());
  c.at(500ms).wakes();
  EXPECT_TRUE(c.is_valid());
}

TEST(Gain, PendingIsRenewed) {
  conversation c(with(member(), [](auto& s) { s.when = *resolve({.lock_delay = 14s}); }));
  c.starts();
  c.is_granted();
  EXPECT_TRUE(c.subject().wants_renewal());
  EXPECT_EQ(c.at(6s).is_renewed(5s), "publish");
  EXPECT_EQ(c.at(14s).wakes(), "pending > active, publish, arm 5 until 19.35s, start 5")
      << "at 14 s only the renewed lease is valid";
}

TEST(Gain, PendingWhoseLeaseRunsOutNeverStartsTheWorkload) {
  conversation c(with(member(), [](auto& s) { s.when = *resolve({.lock_delay = 14s}); }));
  c.starts();
  c.is_granted();
  EXPECT_EQ(c.next_wake(), 12350ms);
  EXPECT_EQ(c.at(12350ms).wakes(), "pending > draining: renew_timeout, publish, release 5");
}

TEST(Gain, WakeThatIsLateForBothStartsNothing) {
  conversation c;
  c.starts();
  c.is_granted();
  // The machine sleeps from before the end of lock_delay until after the end of the lease.
  EXPECT_THAT(c.at(13s).wakes(), Not(HasSubstr("start")));
}

TEST(Gain, LeaseIsCountedFromWhenTheAcquireWasSentNotAnswered) {
  conversation c;
  c.starts();
  c.at(3s).is_granted(five, 1s);
  EXPECT_EQ(c.view().lease->sent_at, start_of_talk + 1s);
  EXPECT_EQ(c.view().lease->safe_until, start_of_talk + 1s + 14850ms);
  EXPECT_EQ(c.view().lease->kill_at, start_of_talk + 1s + 14350ms);
  EXPECT_EQ(c.view().lease->stop_at, start_of_talk + 1s + 12350ms);
}

TEST(Gain, TtlThatTheStoreGrantedCountsNotTheOneAskedFor) {
  conversation c;
  c.starts();
  c.at(10ms).is_granted(five, 0s, 10s, true);
  EXPECT_EQ(c.view().lease->ttl, 10s);
  EXPECT_EQ(c.view().lease->safe_until, start_of_talk + 9900ms);
  EXPECT_EQ(c.next_wake(), 7400ms);
}

TEST(Gain, LongerTtlThanAskedForIsUsed) {
  conversation c;
  c.starts();
  c.at(10ms).is_granted(five, 0s, 60s, true);
  EXPECT_EQ(c.next_wake(), 59400ms - 2500ms);
}

TEST(Gain, TtlThatLeavesNoRoomForARetryIsGivenBack) {
  conversation c;
  c.starts();
  // 7.5 s less 1 % less 2.5 s is 4.925 s: over before the first renewal is due at 5 s.
  EXPECT_EQ(c.at(10ms).is_granted(five, 0s, 7500ms),
            "candidate > draining: ttl_too_short, publish, release 5");
  c.is_released();
  EXPECT_GE(c.next_wake(), 15s) << "the next grant would be no longer";
}

TEST(Gain, TtlShorterThanTheGraceIsGivenBackNotAskedForAgain) {
  conversation c;
  c.starts();
  // Every further acquire would renew it: we would hold it for ever without using it.
  EXPECT_EQ(c.at(10ms).is_granted(five, 0s, 2s),
            "candidate > draining: ttl_too_short, publish, release 5");
}

TEST(Gain, GrantThatArrivesAfterItsOwnStopAtIsNotBelieved) {
  conversation c;
  c.starts();
  EXPECT_EQ(c.at(3s).is_granted(five, 3s - 12350ms), "");
  EXPECT_EQ(c.now_in(), phase::candidate);
  EXPECT_FALSE(c.view().lease);
  EXPECT_EQ(c.at(c.next_wake()).wakes(), "acquire") << "asking again tells whether we hold it";
}

TEST(Gain, GrantsThatAreAlwaysLateAreAskedForLessAndLess) {
  conversation c;
  c.starts();
  duration pause = 0s;
  for (int i = 0; i < 10; ++i) {
    const duration asked = c.now() - start_of_talk;
    c.at(asked + 1s).is_granted(five, asked - 12s);
    pause = c.next_wake() - (asked + 1s);
    c.at(c.next_wake()).wakes();
  }
  EXPECT_GT(pause, 1s);
}

/// A store that has shown version nine of another member, then an earlier state (a restore).
conversation restored(core::version as_of) {
  conversation c;
  c.starts();
  c.says(shows_other(core::version{9}));
  c.is_refused();
  c.says(shows_free(as_of));
  return c;
}

TEST(Gain, VersionOlderThanOneThatWasSeenIsRefused) {
  conversation c = restored(core::version{7});
  EXPECT_EQ(c.is_granted(core::version{8}),
            "candidate > draining: version_regressed, publish, release 8");
  EXPECT_EQ(c.view().last_loss, loss_reason::version_regressed);
  c.is_released();
  EXPECT_GE(c.next_wake(), 15s) << "no circle of grants that cannot be used";
}

TEST(Gain, VersionOfAnotherHolderIsNotOurs) {
  // Two members under one fencing token: the resource could not tell them apart.
  EXPECT_THAT(restored(core::version{8}).is_granted(core::version{9}),
              HasSubstr("version_regressed"));
}

TEST(Gain, GrantWhoseEndTheWatchHasShownBeforeIsNotBelieved) {
  for (const bool others : {false, true}) {
    conversation c(with(member(), [](auto& s) { s.slots = 2; }));
    c.starts();
    c.says(shows({mine(), {"other", core::version{6}}}, core::version{6}));
    c.says(others
               ? shows({{"other", core::version{6}}, {"third", core::version{8}}}, core::version{8})
               : shows({{"other", core::version{6}}}, core::version{7}));
    EXPECT_EQ(c.is_granted(), "") << "an operator has deleted it while its answer was on its way";
    EXPECT_EQ(c.now_in(), phase::candidate);
    EXPECT_EQ(c.at(c.next_wake()).wakes(), "acquire");
    EXPECT_EQ(c.is_granted(core::version{9}, 50ms), "candidate > pending, publish");
  }
}

TEST(Gain, TermOfAnotherRunUnderOurNameAndVersionIsNotOurs) {
  conversation c;
  c.starts();
  c.says(shows({{"me", five}}, five));
  EXPECT_EQ(c.is_granted(), "") << "a store that was restored has granted five once more";
  EXPECT_EQ(c.now_in(), phase::candidate);
}

TEST(Gain, TermOfOurOwnThatIsOverIsGivenBackAndNoneIsBegun) {
  conversation c;
  c.becomes_active();
  c.is_lost();  // the store may be wrong
  c.workload_exits();
  c.at(c.next_wake()).wakes();
  EXPECT_EQ(c.is_granted(five, 2s), "release any") << "its version has had its workload";
  EXPECT_EQ(c.now_in(), phase::candidate);
  EXPECT_EQ(c.is_released(), "");
  EXPECT_EQ(c.at(c.next_wake()).wakes(), "acquire");
  EXPECT_THAT(c.is_granted(core::version{6}, 2s), HasSubstr("candidate > pending"));
}

TEST(Gain, OlderVersionOfOurOwnIsARegression) {
  conversation c;
  c.becomes_active();
  c.resigns(0s);
  c.workload_exits();
  c.is_released();
  c.at(c.next_wake()).wakes();
  // A store that was restored from a backup grants earlier versions again.
  EXPECT_THAT(c.is_granted(core::version{4}, 2s), HasSubstr("version_regressed"));
}

TEST(Gain, OwnVersionOfAGrantThatCameTooLateIsNoRegression) {
  conversation c;
  c.starts();
  c.at(12350ms).is_granted();
  c.at(13s).wakes();
  EXPECT_EQ(c.is_granted(five, 13s), "candidate > pending, publish");
}

TEST(Gain, OwnVersionSeenInTheWatchBeforeTheAnswerIsNoRegression) {
  conversation c;
  c.starts();
  c.says(shows({mine()}, five));
  EXPECT_EQ(c.is_granted(), "candidate > pending, publish");
}

TEST(Gain, LaterVersionOfAnotherSlotIsNoRegression) {
  conversation c(with(member(), [](auto& s) { s.slots = 2; }));
  c.starts();
  c.says(shows({mine(), {"other", core::version{6}}}, core::version{6}));
  EXPECT_EQ(c.is_granted(), "candidate > pending, publish");
}

TEST(Gain, SequencerOfTheStoreIsShownWhileTheTermLasts) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.view().sequencer, "proof");
  c.is_lost();
  c.workload_exits();
  EXPECT_EQ(c.view().sequencer, "");
}

TEST(Gain, GrantWhileStandingAsideIsGivenBack) {
  conversation c;
  c.starts();
  c.resigns(1h);
  EXPECT_EQ(c.is_granted(), "candidate > draining: resigned, publish, release 5");
  c.is_released();
  EXPECT_EQ(c.next_wake(), duration(1h));
}

TEST(Gain, GrantWhileUnhealthyIsGivenBack) {
  conversation c;
  c.starts();
  c.says(event::workload_unhealthy{});
  EXPECT_EQ(c.is_granted(), "candidate > draining: unhealthy, publish, release 5");
}

TEST(Gain, WithoutAWorkloadOfOurOwnNothingIsStarted) {
  conversation c(with(member(), [](auto& s) { s.owns_workload = false; }));
  c.starts();
  EXPECT_EQ(c.is_granted(five, 0s, 15s, true), "candidate > active, publish");
  EXPECT_TRUE(c.is_valid());
}

TEST(Gain, PendingThatLosesItsKeyGoesBackWithoutStarting) {
  conversation c;
  c.starts();
  c.is_granted();
  EXPECT_EQ(c.says(shows_other()),
            "publish, pending > draining: taken_over, publish, "
            "draining > candidate: taken_over, publish");
}

TEST(Gain, WorkloadStartedOfAnotherTermIsNotThisOne) {
  conversation c;
  c.starts();
  c.is_granted(five, 0s, 15s, true);
  EXPECT_EQ(c.workload_starts(core::version{4}), "");
  EXPECT_FALSE(c.view().workload_running);
}

TEST(Gain, WorkloadThatCannotBeStartedEndsTheTerm) {
  conversation c;
  c.starts();
  c.is_granted(five, 0s, 15s, true);
  EXPECT_EQ(c.workload_exits(), "publish, active > draining: workload_exited, publish, release 5");
}

}  // namespace
}  // namespace tenure::core::testing
