// Giving up on purpose: stop the workload, renew meanwhile, release only once it is dead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Resign, StopsTheWorkloadWithItsFullDrainTimeAndReleasesOnlyWhenItIsDead) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.resigns(1h), "active > draining: resigned, publish, stop by 21s: resigned");
  EXPECT_FALSE(c.is_valid()) << "not ready first";
  EXPECT_EQ(c.at(5s).wakes(), "");
  EXPECT_EQ(c.at(6s).workload_exits(), "publish, release 5");
  EXPECT_EQ(c.let_go.deadline, c.now() + default_timing().try_timeout());
  EXPECT_EQ(c.is_released(), "draining > candidate: resigned, publish");
  EXPECT_FALSE(c.view().lease);
}

TEST(Resign, RenewsWhileTheWorkloadDrains) {
  conversation c;
  c.becomes_active();
  c.resigns(1h);
  EXPECT_TRUE(c.subject().wants_renewal());
  EXPECT_EQ(c.at(6s).is_renewed(5s), "arm 5 until 19.35s, publish");
  EXPECT_EQ(c.next_wake(), 17350ms);
}

TEST(Resign, NeverReleasesWhatMayStillRun) {
  conversation c;
  c.becomes_active();
  c.resigns(1h);
  for (duration now = 1s; now < 60s; now += 500ms) {
    EXPECT_THAT(c.at(now).wakes(), Not(HasSubstr("release")));
  }
}

TEST(Resign, LeaseOfAWorkloadThatHangsInTheKernelRunsOut) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.says(event::workload_stuck{}), "");
  EXPECT_TRUE(c.subject().wants_renewal()) << "nobody has told it to end yet";
  c.resigns(1h);
  EXPECT_EQ(c.at(5s).says(event::workload_stuck{}), "");
  EXPECT_FALSE(c.subject().wants_renewal());
  EXPECT_EQ(c.at(6s).is_renewed(4s), "") << "one that was on its way";
  for (duration now = 7s; now < 60s; now += 500ms) {
    EXPECT_THAT(c.at(now).wakes(), Not(HasSubstr("release")));
  }
}

TEST(Resign, WhatHasHungInTheKernelIsReleasedOnceItIsDead) {
  conversation c;
  c.becomes_active();
  c.resigns(1s);
  c.at(5s).says(event::workload_stuck{});
  EXPECT_EQ(c.at(6s).workload_exits(), "publish, release 5");
  EXPECT_EQ(c.is_released(), "draining > candidate: resigned, publish");
  c.at(10s).wakes();
  c.is_granted(core::version{6}, 10s, 15s, true);
  EXPECT_TRUE(c.subject().wants_renewal()) << "the next term is not concerned";
}

TEST(Resign, DrainThatOutlivesTheLeaseIsCutAtKillAt) {
  conversation c;
  c.becomes_active();
  c.resigns(1h);
  EXPECT_EQ(c.at(12350ms).wakes(), "stop by 14.35s: resigned");
  EXPECT_FALSE(c.subject().wants_renewal());
}

TEST(Resign, WantsNoRenewalOnceTheWorkloadIsDead) {
  conversation c;
  c.becomes_active();
  c.resigns(1h);
  c.workload_exits();
  EXPECT_FALSE(c.subject().wants_renewal());
  EXPECT_EQ(c.is_renewed(900ms), "");
}

TEST(Resign, StandsAsideSoThatAnotherMayTakeOver) {
  conversation c;
  c.becomes_active();
  c.resigns(30s);
  c.at(2s).workload_exits();
  c.is_released();
  EXPECT_EQ(c.says(shows_free(core::version{6})), "publish");
  EXPECT_GE(c.next_wake(), 31s);
  EXPECT_EQ(c.at(c.next_wake()).wakes(), "acquire");
}

TEST(Resign, StandsAsideFromTheReleaseOnHoweverLongTheDrainTook) {
  conversation c;
  c.becomes_active();
  c.resigns(10s);
  c.at(6s).is_renewed(5s);
  c.at(11s).is_renewed(10s);
  c.at(15s).workload_exits();
  c.is_released();
  EXPECT_GE(c.next_wake(), 25s) << "asked to stand aside for 10 s, of which none had been free";
}

TEST(Resign, ResumeWhileDrainingCampaignsRightAfterTheRelease) {
  conversation c;
  c.becomes_active();
  c.resigns(duration::max());
  c.says(event::resume{});
  c.workload_exits();
  c.is_released();
  EXPECT_LE(c.next_wake(), 2s);
}

TEST(Resign, PendingReleasesAtOnce) {
  conversation c;
  c.starts();
  c.is_granted();
  EXPECT_EQ(c.resigns(1h), "pending > draining: resigned, publish, release 5");
}

TEST(Readers, HaveTheirGraceBeforeTheLeaseIsReleased) {
  // Without a workload of our own its death cannot be observed: API clients may act on the last
  // answer until grace has passed.
  const auto settings = with(member(), [](auto& s) { s.owns_workload = false; });
  conversation resigned(settings);
  conversation stopped(settings);
  conversation expired(settings);
  for (conversation* c : {&resigned, &stopped, &expired}) {
    c->starts();
    c->is_granted(five, 0s, 15s, true);
  }
  EXPECT_THAT(resigned.at(1s).resigns(1h), Not(HasSubstr("release")));
  EXPECT_THAT(stopped.at(1s).shuts_down(), Not(HasSubstr("release")));
  EXPECT_THAT(expired.at(12350ms).wakes(), Not(HasSubstr("release")));
  EXPECT_THAT(resigned.at(3s).wakes(), HasSubstr("release 5"));
  EXPECT_THAT(stopped.at(3s).wakes(), HasSubstr("release 5"));
  EXPECT_THAT(expired.at(14350ms).wakes(), HasSubstr("release 5"));
}

TEST(Readers, WhoseGraceEndsInASleepKeepNobodyFromTheRelease) {
  conversation c(with(member(), [](auto& s) { s.owns_workload = false; }));
  c.starts();
  c.is_granted(five, 0s, 15s, true);
  c.at(1s).shuts_down();
  EXPECT_THAT(c.at(5s).says(event::slept{3s}), Not(HasSubstr("release")));
  EXPECT_LE(c.next_wake(), 5s);
  EXPECT_THAT(c.wakes(), HasSubstr("release 5"));
}

TEST(Unhealthy, HandsOverWithAFullDrain) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.says(event::workload_unhealthy{}),
            "active > draining: unhealthy, publish, stop by 21s: unhealthy");
  c.workload_exits();
  EXPECT_EQ(c.is_released(), "draining > candidate: unhealthy, publish");
}

TEST(Unhealthy, WorkloadThatIsDeadCannotReportItselfWellSoTheNextOneGetsAChance) {
  conversation c;
  c.becomes_active();
  c.says(event::workload_unhealthy{});
  c.workload_exits();
  c.is_released();
  ASSERT_NE(c.next_wake(), duration::max()) << "standby for ever";
  EXPECT_GE(c.next_wake(), 15s) << "others go first";
}

TEST(WorkloadExit, ReleasesAtOnceAndEndsTheAgent) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.workload_exits(), "publish, active > draining: workload_exited, publish, release 5");
  EXPECT_EQ(c.is_released(),
            "draining > stopped: workload_exited, publish, finished: workload_exited");
}

TEST(WorkloadExit, OfOneThatSomebodyElseStartsAgainLetsOthersGoFirst) {
  conversation c(with(member(), [](auto& s) { s.ends_with_workload = false; }));
  c.becomes_active();
  c.workload_exits();
  EXPECT_EQ(c.is_released(), "draining > candidate: workload_exited, publish");
  EXPECT_EQ(c.next_wake(), 16s) << "a TTL from now";
  c.at(16s).wakes();
  c.at(16s).is_granted(core::version{6}, 16s, 15s, true);
  c.workload_starts(core::version{6});
  c.workload_exits();
  c.is_released();
  EXPECT_EQ(c.next_wake(), 46s) << "twice as long: it must not bounce between members for ever";
}

TEST(WorkloadExit, WithoutAWorkloadIsNoNews) {
  conversation c;
  c.starts();
  c.is_granted();
  EXPECT_EQ(c.workload_exits(), "");
  EXPECT_EQ(c.now_in(), phase::pending);
}

TEST(Shutdown, ActiveDrainsThenReleasesThenEnds) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.shuts_down(), "active > draining: shutdown, publish, stop by 21s: shutdown");
  EXPECT_EQ(c.at(2s).workload_exits(), "publish, release 5");
  EXPECT_EQ(c.is_released(), "draining > stopped: shutdown, publish, finished: shutdown");
  EXPECT_EQ(c.next_wake(), duration::max());
}

TEST(Shutdown, PendingReleasesThenEnds) {
  conversation c;
  c.starts();
  c.is_granted();
  EXPECT_EQ(c.shuts_down(), "pending > draining: shutdown, publish, release 5");
  EXPECT_THAT(c.is_released(), HasSubstr("finished"));
}

TEST(Shutdown, CandidateThatHoldsNothingEndsAtOnce) {
  conversation c;
  c.starts();
  c.is_refused();
  EXPECT_THAT(c.shuts_down(), HasSubstr("finished: shutdown"));
}

TEST(Shutdown, BeforeTheStartEndsAtOnce) {
  conversation c;
  EXPECT_THAT(c.shuts_down(), HasSubstr("finished: shutdown"));
  EXPECT_EQ(c.starts(), "");
}

TEST(Shutdown, WaitsForTheAnswerToAnAcquireInFlight) {
  conversation c;
  c.starts();
  // A slow acquire could be carried out after the release, and nobody would know.
  EXPECT_EQ(c.shuts_down(), "candidate > draining: shutdown, publish");
  EXPECT_EQ(c.at(1s).is_granted(), "release any");
  EXPECT_THAT(c.is_released(), HasSubstr("finished"));
}

TEST(Shutdown, ReleasesWhatAnUnknownAcquireMayHold) {
  conversation answered;
  answered.starts();
  answered.shuts_down();
  EXPECT_EQ(answered.acquire_is_unknown(), "release any");

  conversation silent;
  silent.starts();
  silent.shuts_down();
  EXPECT_EQ(silent.next_wake(), 3675ms);
  EXPECT_EQ(silent.at(3675ms).wakes(), "release any");

  conversation before;
  before.starts();
  before.acquire_is_unknown();
  EXPECT_EQ(before.shuts_down(), "candidate > draining: shutdown, publish, release any");
}

TEST(Shutdown, RefusedWhileItWaitedEndsWithoutARelease) {
  conversation c;
  c.starts();
  c.shuts_down();
  EXPECT_EQ(c.is_refused(), "draining > stopped: shutdown, publish, finished: shutdown");
}

TEST(Shutdown, DuringADrainLetsItFinishThenEnds) {
  conversation c;
  c.becomes_active();
  c.resigns(1h);
  EXPECT_EQ(c.shuts_down(), "");
  c.workload_exits();
  EXPECT_THAT(c.is_released(), HasSubstr("draining > stopped"));
}

TEST(Shutdown, ThereIsNoWayBack) {
  conversation c;
  c.becomes_active();
  c.shuts_down();
  c.says(event::resume{});
  c.workload_exits();
  c.is_released();
  EXPECT_EQ(c.now_in(), phase::stopped);
  EXPECT_EQ(c.says(event::resume{}), "");
  EXPECT_EQ(c.starts(), "");
  EXPECT_EQ(c.shuts_down(), "");
}

TEST(Release, UnknownIsTriedAgainUnderANewNumber) {
  conversation c;
  c.becomes_active();
  c.shuts_down();
  c.at(2s).workload_exits();
  const attempt first = c.let_go.number;
  EXPECT_EQ(c.release_is_unknown(), "");
  EXPECT_EQ(c.at(c.next_wake()).wakes(), "release 5");
  EXPECT_NE(c.let_go.number, first);
  EXPECT_EQ(c.says(event::released{first}), "") << "the answer to a try that was given up";
}

TEST(Release, WithoutAnAnswerIsGivenUpAtItsDeadline) {
  conversation c;
  c.becomes_active();
  c.shuts_down();
  c.workload_exits();
  EXPECT_EQ(c.at(c.next_wake()).wakes(), "");
  EXPECT_EQ(c.at(c.next_wake()).wakes(), "release 5");
}

TEST(Release, StoreThatStaysSilentDoesNotKeepTheAgentForEver) {
  conversation c;
  c.becomes_active();
  c.shuts_down();
  c.workload_exits();
  for (int i = 0; i < 10 && c.now_in() != phase::stopped; ++i) c.at(c.next_wake()).wakes();
  EXPECT_EQ(c.now_in(), phase::stopped);
  EXPECT_LE(c.now(), start_of_talk + 30s);
}

TEST(Release, ThatStaysUnknownIsTriedUntilItIsKnown) {
  conversation c;
  c.becomes_active();
  c.resigns(1h);
  c.workload_exits();
  // If we were granted the same term again meanwhile, a late release would end the lease we run
  // under.
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(c.release_is_unknown(), "");
    ASSERT_EQ(c.at(c.next_wake()).wakes(), "release 5") << "try " << i;
  }
  EXPECT_EQ(c.is_released(), "draining > candidate: resigned, publish");
}

TEST(Release, IsCleanOnceLockDelayHasPassedOrWasNotNeeded) {
  conversation waited;
  waited.becomes_active();
  waited.resigns(1h);
  waited.workload_exits();
  EXPECT_TRUE(waited.let_go.clean);

  // The workload of the previous term may still run: the next holder must wait instead of us.
  conversation pending;
  pending.starts();
  pending.is_granted();
  pending.resigns(1h);
  EXPECT_EQ(pending.let_go.version, five);
  EXPECT_FALSE(pending.let_go.clean);

  conversation aside;
  aside.starts();
  aside.resigns(1h);
  aside.acquire_is_unknown();
  EXPECT_EQ(aside.let_go.version, no_version);
  EXPECT_FALSE(aside.let_go.clean);
}

TEST(Release, LostMeanwhileNeedsNoAnswer) {
  conversation c;
  c.becomes_active();
  c.shuts_down();
  c.workload_exits();
  EXPECT_THAT(c.says(shows_free()), HasSubstr("draining > stopped"));
}

TEST(Release, AfterStopAtIsStillTriedSoThatOthersNeedNotWait) {
  conversation c;
  c.becomes_active();
  c.at(12350ms).wakes();
  EXPECT_EQ(c.at(12600ms).workload_exits(), "publish, release 5");
}

TEST(Release, OfALeaseThatHasRunOutIsNotWaitedForByWhoEndsForGood) {
  conversation stays;
  stays.becomes_active();
  stays.at(12350ms).wakes();
  EXPECT_EQ(stays.at(14850ms).workload_exits(), "publish, release 5")
      << "in a shared session the renewals of others may have kept it alive";

  conversation ends;
  ends.becomes_active();
  ends.at(12350ms).wakes();
  ends.shuts_down();
  EXPECT_EQ(ends.at(14850ms).workload_exits(),
            "publish, draining > stopped: renew_timeout, publish, finished: renew_timeout");
}

TEST(Release, SilentStoreDoesNotKeepAnAgentThatHasNothingLeftToDo) {
  conversation exited;
  conversation expired(with(member(), [](auto& s) { s.on_lost = after_loss::exit; }));
  exited.becomes_active();
  expired.becomes_active();
  expired.at(12350ms).wakes();
  for (conversation* c : {&exited, &expired}) {
    c->workload_exits();
    for (int i = 0; i < 20 && c->now_in() != phase::stopped; ++i) c->at(c->next_wake()).wakes();
    EXPECT_EQ(c->now_in(), phase::stopped) << name(c->view().last_loss);
  }
}

// --- the guard -------------------------------------------------------------------------------

/// A pod that is deleted tells its guard and its agent at about the same time: that is one end in
/// order, and the first to hear of it does not matter.
TEST(Guard, ThatIsToldToEndIsNoFailure) {
  conversation c;
  c.becomes_active();
  c.at(6s).says(event::guard_away{.why = loss_reason::shutdown});
  EXPECT_EQ(c.view().last_loss, loss_reason::shutdown);
  EXPECT_EQ(c.says(event::guard_away{}), "") << "its end, which follows";
  EXPECT_EQ(c.view().last_loss, loss_reason::shutdown);
}

TEST(Guard, ThatIsGoneIsAFailure) {
  conversation c;
  c.becomes_active();
  c.at(6s).says(event::guard_away{});
  EXPECT_EQ(c.view().last_loss, loss_reason::guard_gone);
}

// --- a workload that nobody can see ----------------------------------------------------------

/// Processes that the workload started may live on, and nobody can tell whether they do.
conversation unseen() {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.at(6s).says(event::workload_unseen{}),
            "active > draining: guard_gone, publish, stop by 6s: guard_gone");
  EXPECT_EQ(c.workload_exits(), "publish") << "the guard is dead: nobody has seen it";
  return c;
}

TEST(Unseen, LeaseIsNeitherRenewedNorReleasedAndRunsOut) {
  conversation c = unseen();
  EXPECT_FALSE(c.subject().wants_renewal());
  EXPECT_EQ(c.says(event::guard_away{}), "");
  EXPECT_EQ(c.at(7s).says(shows({mine(), {"other", core::version{6}}}, core::version{6})),
            "publish");
  EXPECT_EQ(c.at(8s).says(event::guard_back{}), "") << "of a new guard, which knows of nothing";
  EXPECT_GT(c.next_wake(), 15s) << "ttl, by a clock that is slower than ours";
  EXPECT_THAT(c.at(c.next_wake()).wakes(), HasSubstr("draining > candidate"));
  EXPECT_THAT(c.at(c.next_wake()).wakes(), HasSubstr("acquire"));
}

TEST(Unseen, RenewalUnderWayMayHaveProlongedTheLease) {
  conversation c = unseen();
  EXPECT_EQ(c.at(7s).is_renewed(5s), "") << "sent before, and answered now";
  EXPECT_GT(c.next_wake(), 6s + 15s) << "it may have been carried out as late as now";
}

TEST(Unseen, AgentThatEndsLeavesTheLeaseBehind) {
  conversation c = unseen();
  const std::string ordered = c.at(7s).shuts_down();
  EXPECT_THAT(ordered, HasSubstr("finished"));
  EXPECT_THAT(ordered, Not(HasSubstr("release")));
}

TEST(Unseen, WorkloadThatWasFoundMayHaveBeenRenewedByATryThatWasNotAnswered) {
  for (const bool given_up : {false, true}) {
    conversation c;
    c.says(event::workload_found{
        .version = five, .stop_at = start_of_talk + 10s, .kill_at = start_of_talk + 12s});
    c.starts();
    if (given_up) c.at(1s).resigns(0s);
    c.at(1s).says(event::workload_unseen{});
    EXPECT_EQ(c.at(2s).workload_exits(), "publish") << given_up;
    EXPECT_EQ(c.at(3s).says(shows({mine(), {"other", core::version{6}}}, core::version{6})),
              "publish");
    EXPECT_GT(c.next_wake(), 16s) << given_up;
    EXPECT_THAT(c.at(c.next_wake()).wakes(), HasSubstr("release any")) << "it is over by now";
  }
}

/// Its container may take long to end.
TEST(Unseen, EndOfTheWholeContainerEndsTheDoubt) {
  for (const bool is_told_first : {false, true}) {
    conversation c;
    c.becomes_active();
    c.at(6s).says(event::workload_unseen{});
    if (is_told_first) c.says(event::guard_away{});
    const std::string said = c.at(8s).says(event::workload_exited{.with_container = true});
    EXPECT_THAT(said, HasSubstr("release 5")) << is_told_first;
  }
}

TEST(Unseen, EndOfTheContainerDoesNotBringALostLeaseBack) {
  conversation c;
  c.becomes_active();
  c.at(5s).says(event::lost{.version = five, .why = loss_reason::revoked});
  c.at(6s).says(event::workload_unseen{});
  EXPECT_THAT(c.at(7s).says(event::workload_exited{.with_container = true}),
              Not(HasSubstr("release")));
}

TEST(Guard, ContainerThatDiesIsTheReasonAndItsEndFreesTheLease) {
  conversation c;
  c.becomes_active();
  c.at(6s).says(event::guard_away{.why = loss_reason::container_died});
  EXPECT_EQ(c.view().last_loss, loss_reason::container_died);
  EXPECT_THAT(c.says(event::workload_exited{.with_container = true}), HasSubstr("release 5"));
}

TEST(Unseen, WhatDoesNotRunIsNotMissed) {
  conversation c;
  c.starts();
  EXPECT_EQ(c.says(event::workload_unseen{}), "");
  c.is_granted();
  EXPECT_EQ(c.says(event::workload_unseen{}), "");
  EXPECT_EQ(c.now_in(), phase::pending);
}

}  // namespace
}  // namespace tenure::core::testing
