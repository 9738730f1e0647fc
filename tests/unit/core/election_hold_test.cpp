// A holder: renewals, the end of the budget, and a store that says that the term is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

using ::testing::HasSubstr;

TEST(Renewal, MovesEveryDeadlineFromItsOwnSend) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.at(7s).is_renewed(5s), "arm 5 until 19.35s, publish");
  EXPECT_EQ(c.view().lease->sent_at, start_of_talk + 5s);
  EXPECT_EQ(c.view().lease->stop_at, start_of_talk + 17350ms);
  EXPECT_EQ(c.next_wake(), 17350ms);
}

TEST(Renewal, LeaseIsCountedFromWhenTheRenewalWasSentNotAnswered) {
  conversation slow;
  conversation fast;
  slow.becomes_active();
  fast.becomes_active();
  fast.at(5001ms).is_renewed(5s);
  slow.at(8600ms).is_renewed(5s);
  EXPECT_EQ(slow.view().lease->stop_at, fast.view().lease->stop_at);
}

TEST(Renewal, OlderSendThanTheOneInForceChangesNothing) {
  conversation c;
  c.becomes_active();
  c.at(11s).is_renewed(10s);
  EXPECT_EQ(c.at(12s).is_renewed(5s), "");
  EXPECT_EQ(c.at(12s).is_renewed(10s), "");
  EXPECT_EQ(c.view().lease->sent_at, start_of_talk + 10s);
}

TEST(Renewal, OfAnotherTermChangesNothing) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.at(6s).is_renewed(5s, 15s, core::version{4}), "");
  EXPECT_EQ(c.next_wake(), 12350ms);
}

TEST(Renewal, ReplyAfterStopAtIsNotARenewal) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.at(12350ms).is_renewed(12s),
            "active > draining: renew_timeout, publish, stop by 14.35s: renew_timeout");
  EXPECT_EQ(c.at(12400ms).is_renewed(12300ms), "");
  EXPECT_FALSE(c.is_valid());
}

TEST(Renewal, ShorterTtlThanBeforeShortensTheLease) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.at(6s).is_renewed(5s, 10s), "arm 5 until 14.4s, publish");
  EXPECT_EQ(c.next_wake(), 12400ms);
}

TEST(Renewal, TtlThatIsOverBeforeTheReplyArrivesEndsTheTerm) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.at(8s).is_renewed(5s, 3s),
            "arm 5 until 7.47s, publish, active > draining: renew_timeout, publish, "
            "stop by 7.47s: renew_timeout");
}

TEST(Election, UnknownOutcomeNeverDemotesEarly) {
  conversation c;
  c.becomes_active();
  // None of these means that the lease is over.
  for (duration now = 1s; now < 12350ms; now += 100ms) {
    c.at(now);
    EXPECT_EQ(c.wakes(), "");
    EXPECT_EQ(c.says(event::acquire_unknown{c.asked.number}), "");
    EXPECT_EQ(c.says(event::watch_failed{}), "watch");
    ASSERT_TRUE(c.is_valid()) << text(now);
  }
  EXPECT_EQ(c.at(12350ms - 1ns).wakes(), "");
}

TEST(Election, StopsAtStopAtAndKillsAtKillAt) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.at(12350ms).wakes(),
            "active > draining: renew_timeout, publish, stop by 14.35s: renew_timeout");
  EXPECT_EQ(c.view().last_loss, loss_reason::renew_timeout);
}

TEST(Election, IsNotHolderInAnyAnswerFromStopAtThoughNothingWokeIt) {
  conversation c;
  c.becomes_active();
  EXPECT_TRUE(c.view().valid_at(start_of_talk + 12350ms - 1ns));
  EXPECT_FALSE(c.view().valid_at(start_of_talk + 12350ms));
}

TEST(Election, WantsNoRenewalPastStopAt) {
  conversation c;
  c.becomes_active();
  EXPECT_TRUE(c.subject().wants_renewal());
  c.at(12350ms).wakes();
  EXPECT_FALSE(c.subject().wants_renewal());
}

/// Expiry comes before every event.
class ExpiryComesFirst : public ::testing::TestWithParam<election_event> {};

TEST_P(ExpiryComesFirst, WhateverWokeIt) {
  conversation c;
  c.becomes_active();
  EXPECT_THAT(c.at(13s).says(GetParam()), HasSubstr("active > draining: renew_timeout"));
  EXPECT_FALSE(c.is_valid());
}

INSTANTIATE_TEST_SUITE_P(
    Election, ExpiryComesFirst,
    ::testing::Values(
        election_event{event::woke{}},
        election_event{event::renewed{.version = five, .sent_at = start_of_talk + 12s, .ttl = 15s}},
        election_event{event::lost{.version = five, .why = loss_reason::revoked}},
        election_event{shows({mine()}, five)}, election_event{shows_other()},
        election_event{event::resign{1s}}, election_event{event::shutdown{}},
        election_event{event::workload_unhealthy{}}, election_event{event::workload_exited{}},
        election_event{event::watch_failed{}}, election_event{event::slept{}}));

TEST(Election, ResumedAfterTheLeaseRanOutStopsAtOnce) {
  conversation c;
  c.becomes_active();
  // The machine slept for an hour: kill_at is long past, so the guard kills.
  EXPECT_EQ(c.at(1h).wakes(),
            "active > draining: renew_timeout, publish, stop by 14.35s: renew_timeout");
}

TEST(Sleep, EndsALeaseThatWouldHaveHeldWithoutIt) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.at(1h).says(event::slept{1h - 1s}),
            "active > draining: suspended, publish, stop by 14.35s: suspended");
  EXPECT_EQ(c.view().last_loss, loss_reason::suspended);
}

TEST(Sleep, DoesNotExcuseALeaseThatHadRunOutBefore) {
  conversation c;
  c.becomes_active();
  // The machine was awake for 13 of these 30 s; the lease was valid for 12.35 s.
  EXPECT_EQ(c.at(30s).says(event::slept{17s}),
            "active > draining: renew_timeout, publish, stop by 14.35s: renew_timeout");
}

TEST(Sleep, ThatTheLeaseHasOutlastedChangesNothing) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.at(12s).says(event::slept{11s}), "");
  EXPECT_TRUE(c.is_valid());
  // The next expiry is caused by the network alone.
  EXPECT_EQ(c.at(13s).wakes(),
            "active > draining: renew_timeout, publish, stop by 14.35s: renew_timeout");
}

TEST(Sleep, DoesNotChangeWhyADrainBegan) {
  conversation c;
  c.becomes_active();
  c.resigns(1h);
  EXPECT_EQ(c.at(1h).says(event::slept{1h - 1s}), "stop by 14.35s: resigned");
}

TEST(Election, HoldersSilenceIsNotALoss) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.says(shows({mine()}, five)), "publish");
  EXPECT_TRUE(c.is_valid());
}

TEST(Loss, OfTheSessionKillsNow) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.is_lost(loss_reason::session_invalid),
            "active > draining: session_invalid, publish, stop by 1s: session_invalid");
  EXPECT_FALSE(c.is_valid());
  EXPECT_FALSE(c.subject().wants_renewal());
}

TEST(Loss, OfAnotherTermIsNotOurs) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.is_lost(loss_reason::revoked, core::version{4}), "");
  EXPECT_TRUE(c.is_valid());
}

TEST(Loss, ReleasesNothingBecauseNothingIsHeld) {
  conversation c;
  c.becomes_active();
  c.is_lost();
  EXPECT_EQ(c.at(1100ms).workload_exits(),
            "publish, draining > candidate: session_invalid, publish");
}

TEST(Loss, NothingIsAskedForBeforeTheWorkloadIsDead) {
  conversation c;
  c.becomes_active();
  c.is_lost();
  EXPECT_EQ(c.at(10s).wakes(), "");
  EXPECT_EQ(c.says(shows_free()), "publish");
  EXPECT_EQ(c.now_in(), phase::draining);
  c.at(20s).workload_exits();
  EXPECT_EQ(c.at(21s).wakes(), "acquire");
}

TEST(Loss, SeenByTheWatchWithAnotherHolderIsATakeover) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.says(shows_other()),
            "publish, active > draining: taken_over, publish, stop by 1s: taken_over");
}

TEST(Loss, SeenByTheWatchWithNobodyElseIsARevocation) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.says(shows_free()),
            "publish, active > draining: revoked, publish, stop by 1s: revoked");
}

TEST(Loss, SameVersionInAnotherHandIsATakeover) {
  for (const char* identity : {"other", "me"}) {
    conversation c;
    c.becomes_active();
    EXPECT_THAT(c.says(shows({{identity, five}}, five)), HasSubstr("stop by 1s: taken_over"))
        << "a restored store grants a version twice; " << identity;
  }
}

TEST(Loss, ObservationFromBeforeOurGrantSaysNothing) {
  conversation c;
  c.becomes_active();
  EXPECT_EQ(c.says(shows_free(core::version{4})), "publish");
  EXPECT_EQ(c.says(shows_other(core::version{4})), "publish");
  EXPECT_TRUE(c.is_valid());
}

TEST(Loss, GraceReachesAsFarAsTheStoresOwnLockDelayLeavesRoom) {
  conversation c;
  c.becomes_active();
  // 5 s less 1 % less kill_budget, from the send at 0: the session may have ended right after it.
  EXPECT_THAT(c.session_ends(5s), HasSubstr("stop by 4.45s: session_invalid"));
}

TEST(Loss, ADeletedKeyHasNoLockDelayAndLeavesNoRoom) {
  conversation c;
  c.becomes_active();
  EXPECT_THAT(c.at(1s).says(shows_free()), HasSubstr("stop by 1s: revoked"));
}

TEST(Loss, RoomOfALockDelayEndsWithTheNewsThatAnotherHolds) {
  conversation c;
  c.becomes_active();
  EXPECT_THAT(c.session_ends(5s), HasSubstr("stop by 4.45s: session_invalid"));
  EXPECT_EQ(c.at(2s).says(shows_free(core::version{6})), "publish")
      << "the session has taken the key along";
  // An operator had deleted the key before, and a deleted key has no lock-delay.
  EXPECT_EQ(c.at(3s).says(shows_other(core::version{7})), "publish, stop by 3s: taken_over");
}

TEST(Loss, LockDelayThatMayBeOverLeavesNoRoom) {
  conversation c;
  c.becomes_active();
  EXPECT_THAT(c.at(6s).session_ends(5s), HasSubstr("stop by 6s: session_invalid"));
}

TEST(Loss, RoomIsCountedFromTheLastSendNotFromWhenWeLearnOfIt) {
  conversation c(with(member(), [](auto& s) { s.when = *resolve({.ttl = 60s}); }));
  c.starts();
  c.at(10ms).is_granted(five, 0s, 60s, true);
  c.workload_starts();
  EXPECT_THAT(c.at(10s).session_ends(15s), HasSubstr("stop by 14.35s: session_invalid"));
}

TEST(Loss, RoomNeverReachesBeyondKillAt) {
  conversation c;
  c.becomes_active();
  EXPECT_THAT(c.session_ends(60s), HasSubstr("stop by 14.35s"));
}

TEST(Loss, DuringADrainShortensIt) {
  conversation c;
  c.becomes_active();
  EXPECT_THAT(c.resigns(0s), HasSubstr("stop by 21s: resigned"));
  EXPECT_EQ(c.at(2s).is_lost(), "stop by 2s: session_invalid");
}

TEST(Loss, AfterStopAtStillKillsAtOnce) {
  conversation c;
  c.becomes_active();
  c.at(12350ms).wakes();
  EXPECT_EQ(c.at(13s).says(shows_other()), "publish, stop by 13s: taken_over");
}

TEST(Loss, GoesBackToCampaigningUnlessToldToExit) {
  conversation stays;
  conversation exits(with(member(), [](auto& s) { s.on_lost = after_loss::exit; }));
  for (conversation* c : {&stays, &exits}) {
    c->becomes_active();
    c->is_lost();
    c->workload_exits();
  }
  EXPECT_EQ(stays.now_in(), phase::candidate);
  EXPECT_EQ(exits.now_in(), phase::stopped);
}

TEST(Loss, NextTermComesUnderALargerVersion) {
  conversation c;
  c.becomes_active();
  c.is_lost();
  c.workload_exits();
  c.at(2s).wakes();
  EXPECT_EQ(c.asked.above, five);
  EXPECT_EQ(c.is_granted(core::version{6}, 2s, 15s, true),
            "candidate > active, publish, arm 6 until 16.35s, start 6");
}

TEST(Slots, OtherHoldersBesideUsAreNoLoss) {
  conversation c(with(member(), [](auto& s) { s.slots = 2; }));
  c.becomes_active();
  EXPECT_EQ(c.says(shows({{"other", core::version{4}}, mine()}, core::version{6})), "publish");
  EXPECT_EQ(c.says(shows({mine(), {"other", core::version{7}}}, core::version{7})), "publish");
  EXPECT_TRUE(c.is_valid());
}

TEST(Slots, FullWithoutUsIsATakeoverWithRoomARevocation) {
  for (const bool full : {true, false}) {
    conversation c(with(member(), [](auto& s) { s.slots = 2; }));
    c.becomes_active();
    std::vector<holder> others{{"a", core::version{6}}};
    if (full) others.push_back({"b", core::version{7}});
    EXPECT_THAT(c.says(shows(others, core::version{7})),
                HasSubstr(full ? "draining: taken_over" : "draining: revoked"));
  }
}

}  // namespace
}  // namespace tenure::core::testing
