// A candidate: acquires, refusals, unknown outcomes, watches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

TEST(Candidate, WatchesAndAsksForTheLeaseAsSoonAsItSeesTheElection) {
  conversation c;
  EXPECT_EQ(c.says(event::started{}), "watch, publish");
  EXPECT_EQ(c.now_in(), phase::candidate);
  EXPECT_EQ(c.view().since, start_of_talk);
  EXPECT_EQ(c.next_wake(), duration::max());
  EXPECT_EQ(c.at(1s).says(shows_free(no_version)), "publish, acquire");
}

TEST(Candidate, DoesNotAskForALeaseThatItSeesHeld) {
  conversation c;
  c.says(event::started{});
  EXPECT_EQ(c.says(shows_other()), "publish");
  EXPECT_EQ(c.at(1s).says(shows_free(core::version{7})), "publish, acquire");
}

TEST(Candidate, DoesNothingBeforeItIsStarted) {
  conversation c;
  EXPECT_EQ(c.wakes(), "");
  EXPECT_EQ(c.next_wake(), duration::max());
  EXPECT_EQ(c.view().since, never);
}

TEST(Candidate, IsStartedOnce) {
  conversation c;
  c.starts();
  EXPECT_EQ(c.starts(), "");
}

TEST(Candidate, EveryTryHasItsOwnDeadlineInsideTheBudget) {
  conversation c;
  c.starts();
  EXPECT_EQ(c.asked.deadline, c.now() + default_timing().try_timeout());
  EXPECT_EQ(c.next_wake(), 3675ms);
}

TEST(Candidate, RefusedWaitsForTheWatchAndDoesNotPoll) {
  conversation c;
  c.starts();
  EXPECT_EQ(c.is_refused(), "");
  EXPECT_EQ(c.next_wake(), duration::max());
  EXPECT_EQ(c.at(24h).wakes(), "");
}

TEST(Candidate, RefusedTriesAgainWhenTheStoreSaysThatItMaySucceed) {
  conversation c;
  c.starts();
  c.is_refused(start_of_talk + 7s);
  EXPECT_EQ(c.next_wake(), 7s);
  EXPECT_EQ(c.at(7s - 1ns).wakes(), "");
  EXPECT_EQ(c.at(7s).wakes(), "acquire");
}

TEST(Candidate, RefusalThatNamesThePresentIsNotAnsweredInACircle) {
  conversation c;
  c.starts();
  EXPECT_EQ(c.is_refused(start_of_talk), "") << "an acquire in the same step would spin";
  EXPECT_GT(c.next_wake(), 0ms);
}

TEST(Candidate, AsksAtOnceWhenTheWatchShowsTheLeaseFree) {
  conversation c;
  c.starts();
  c.is_refused();
  EXPECT_EQ(c.at(1s).says(shows_free()), "publish, acquire");
}

TEST(Candidate, DoesNotAskWhileTheWatchShowsAnotherHolder) {
  conversation c;
  c.starts();
  c.is_refused();
  EXPECT_EQ(c.at(1s).says(shows_other()), "publish");
  EXPECT_EQ(c.next_wake(), duration::max());
}

TEST(Candidate, TheWatchMayNameTheTimeOfTheNextTry) {
  conversation c;
  c.starts();
  c.is_refused();
  c.says(shows({{"other", five}}, five, start_of_talk + 9s));
  EXPECT_EQ(c.next_wake(), 9s);
  c.says(shows({{"other", five}}, five, start_of_talk + 12s));
  EXPECT_EQ(c.next_wake(), 12s) << "the holder renewed, so its record expires later";
}

TEST(Candidate, LeaseSeenFreeWhileTheAcquireWasInFlightIsAskedForAgain) {
  conversation c;
  c.starts();
  // The store refused us, then the holder released; the watch arrives before the answer.
  EXPECT_EQ(c.at(5ms).says(shows_free()), "publish");
  c.at(10ms).is_refused();
  ASSERT_LE(c.next_wake(), 20ms) << "no further observation will come: the release was seen";
  EXPECT_EQ(c.at(c.next_wake()).wakes(), "acquire");
}

TEST(Candidate, FreedBeforeAnAcquireWasSentSaysNothingOfItsRefusal) {
  conversation c;
  c.starts();
  c.at(1ms).says(shows_free());
  c.at(2ms).is_refused();
  c.at(10ms).wakes();
  c.at(11ms).is_refused();
  EXPECT_EQ(c.next_wake(), duration::max()) << "the second acquire was sent after it was freed";
}

TEST(Candidate, OneHolderOfTwoSlotsLeavesRoom) {
  conversation c(with(member(), [](auto& s) { s.slots = 2; }));
  c.starts();
  c.is_refused();
  EXPECT_EQ(c.says(shows({{"a", core::version{3}}, {"b", core::version{4}}}, five)), "publish");
  EXPECT_EQ(c.says(shows({{"b", core::version{4}}}, five)), "publish, acquire");
}

TEST(Candidate, UnknownOutcomeIsTriedAgainAfterABackOff) {
  conversation c;
  c.starts();
  EXPECT_EQ(c.at(1s).acquire_is_unknown(), "");
  const duration pause = c.next_wake() - 1s;
  EXPECT_GE(pause, 25ms);
  EXPECT_LE(pause, 50ms);
  EXPECT_EQ(c.at(c.next_wake()).wakes(), "acquire");
}

TEST(Candidate, BackOffGrowsUpToTheRenewalInterval) {
  conversation c;
  c.starts();
  duration now = 0s;
  duration last = 0s;
  for (int i = 0; i < 12; ++i) {
    c.at(now).acquire_is_unknown();
    const duration pause = c.next_wake() - now;
    EXPECT_GE(pause, last);
    EXPECT_LE(pause, default_timing().renew);
    last = pause;
    now = c.next_wake();
    ASSERT_EQ(c.at(now).wakes(), "acquire");
  }
  EXPECT_EQ(last, default_timing().renew / 2) << "with no jitter drawn, half of the step";
}

TEST(Candidate, JitterSpreadsRetriesOut) {
  conversation early;
  conversation late;
  early.starts();
  late.starts();
  early.entropy(0).acquire_is_unknown();
  late.entropy(25'000'000).acquire_is_unknown();
  EXPECT_LT(early.next_wake(), late.next_wake());
}

TEST(Candidate, AcquireWithoutAnAnswerIsGivenUpAtItsDeadline) {
  conversation c;
  c.starts();
  EXPECT_EQ(c.at(3675ms - 1ns).wakes(), "");
  c.at(3675ms).wakes();
  EXPECT_EQ(c.at(c.next_wake()).wakes(), "acquire");
}

TEST(Candidate, LateAnswersToATryThatWasGivenUpAreNotAnswersToTheNext) {
  conversation c;
  c.starts();
  const attempt first = c.asked.number;
  c.acquire_is_unknown();
  c.at(1s).wakes();
  ASSERT_NE(c.asked.number, first);
  EXPECT_EQ(c.says(event::refused{.number = first}), "");
  EXPECT_EQ(c.says(event::acquire_unknown{first}), "");
  EXPECT_EQ(c.says(event::granted{
                .number = first, .version = five, .ttl = 15s, .sent_at = start_of_talk}),
            "");
  EXPECT_EQ(c.now_in(), phase::candidate);
  EXPECT_EQ(c.at(2s).is_granted(), "candidate > pending, publish");
}

TEST(Candidate, AnAnswerAtTheDeadlineOfItsTryIsLateWhetherOrNotATimerHasSaidSo) {
  const auto late = [](bool woken) {
    conversation c;
    c.starts();
    c.at(3675ms);
    if (woken) c.wakes();
    const std::string done = c.is_granted();
    EXPECT_EQ(c.now_in(), phase::candidate);
    return done;
  };
  EXPECT_EQ(late(true), "acquire");
  EXPECT_EQ(late(false), "acquire");
}

TEST(Candidate, LateGrantThatNobodyAsksForAnyMoreIsAskedForAgain) {
  conversation c;
  c.starts();
  const attempt first = c.asked.number;
  c.acquire_is_unknown();
  c.at(1s).wakes();
  c.is_refused();
  ASSERT_EQ(c.next_wake(), duration::max());
  // The store counts it: without another acquire nobody would hold until it runs out.
  EXPECT_EQ(c.says(event::granted{
                .number = first, .version = five, .ttl = 15s, .sent_at = start_of_talk}),
            "acquire");
}

TEST(Candidate, OwnNameAmongTheHoldersIsAskedForAgain) {
  conversation c;
  c.starts();
  c.is_refused();
  // A lost acquire was carried out late. Other elections renew the session, so we would hold the
  // lease for ever without using it.
  EXPECT_EQ(c.at(1s).says(shows({mine(core::version{7})}, core::version{7})), "publish, acquire");
}

TEST(Candidate, WithAnUnknownAcquireAsksAgainAlthoughTheWatchShowsAHolder) {
  conversation c;
  c.starts();
  c.acquire_is_unknown();
  const duration retry = c.next_wake();
  EXPECT_EQ(c.at(1ms).says(shows_other()), "publish");
  EXPECT_EQ(c.next_wake(), retry) << "what was seen may be older than what we got";
}

TEST(Candidate, AsksForAVersionAboveTheHighestThatItHasSeen) {
  conversation c;
  c.starts();
  c.is_refused();
  c.says(shows_other(core::version{41}));
  c.says(shows_free(core::version{42}));
  EXPECT_EQ(c.asked.above, core::version{41});
}

TEST(Candidate, BrokenWatchIsOpenedAgainAfterAGrowingPause) {
  conversation c;
  c.starts();
  c.is_refused();
  time_point last = c.now();
  duration pause = 0s;
  for (int i = 0; i < 15; ++i) {
    EXPECT_EQ(c.says(event::watch_failed{}), "watch");
    EXPECT_GE(c.watched.not_before - last, pause);
    pause = c.watched.not_before - last;
    EXPECT_GT(pause, 0ms);
    EXPECT_LE(pause, 5s);
    last = c.watched.not_before;
    c.at(last - start_of_talk);
  }
}

TEST(Candidate, WatchThatBreaksAfterEveryAnswerIsNotOpenedInACircle) {
  conversation c;
  c.starts();
  c.is_refused();
  duration pause = 0s;
  for (int i = 0; i < 12; ++i) {
    c.says(shows_other());
    c.says(event::watch_failed{});
    pause = c.watched.not_before - c.now();
    c.at(c.watched.not_before - start_of_talk);
  }
  EXPECT_GT(pause, 100ms);
}

TEST(Candidate, FailingAcquireKeepsItsBackOffThoughEveryNewWatchShowsTheLeaseFree) {
  conversation c;
  c.starts();
  int asked = 0;
  for (duration now = 0s; now < 10s; now += 20ms) {
    const bool asks = c.at(now).says(shows_free()).find("acquire") != std::string::npos;
    if (asks) ++asked;
    c.acquire_is_unknown();
  }
  EXPECT_LT(asked, 20) << "a store that can be read but not written is not hammered";
}

TEST(Candidate, SameObservationTwiceIsPublishedOnce) {
  conversation c;
  c.starts();
  c.is_refused();
  EXPECT_EQ(c.says(shows_other()), "publish");
  EXPECT_EQ(c.says(shows_other()), "");
}

TEST(Candidate, UnhealthyDoesNotCampaignUntilHealthy) {
  conversation c;
  c.starts();
  c.is_refused();
  c.says(event::workload_unhealthy{});
  EXPECT_EQ(c.says(shows_free()), "publish");
  EXPECT_EQ(c.next_wake(), duration::max());
  EXPECT_EQ(c.says(event::workload_healthy{}), "acquire");
}

TEST(Candidate, StandsAsideForAsLongAsItWasAskedTo) {
  conversation c;
  c.starts();
  c.is_refused();
  EXPECT_EQ(c.resigns(10s), "");
  EXPECT_EQ(c.at(1s).says(shows_free()), "publish");
  EXPECT_EQ(c.next_wake(), 10s);
  EXPECT_EQ(c.at(10s).wakes(), "acquire");
}

TEST(Candidate, AsideForEverEndsWithResumeOnly) {
  conversation c;
  c.starts();
  c.is_refused();
  c.resigns(duration::max());
  c.says(shows_free());
  EXPECT_EQ(c.next_wake(), duration::max());
  EXPECT_EQ(c.at(1000h).wakes(), "");
  EXPECT_EQ(c.says(event::resume{}), "acquire");
}

TEST(Candidate, AsideReleasesWhatAnUnknownAcquireMayHold) {
  conversation c;
  c.starts();
  c.resigns(duration::max());
  // Other elections renew the session, so a grant we do not know of would never run out.
  EXPECT_EQ(c.acquire_is_unknown(), "release any");
  EXPECT_EQ(c.is_released(), "");
  EXPECT_EQ(c.next_wake(), duration::max());
}

TEST(Candidate, UnhealthyReleasesWhatAnUnknownAcquireMayHold) {
  conversation c;
  c.starts();
  c.says(event::workload_unhealthy{});
  EXPECT_EQ(c.acquire_is_unknown(), "release any");
}

TEST(Candidate, AsideTriesTheReleaseAgainUntilItIsKnown) {
  conversation c;
  c.starts();
  c.resigns(duration::max());
  c.acquire_is_unknown();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(c.release_is_unknown(), "");
    ASSERT_EQ(c.at(c.next_wake()).wakes(), "release any") << "try " << i;
  }
  c.is_released();
  EXPECT_EQ(c.next_wake(), duration::max());
}

TEST(Candidate, DoesNotCampaignWhileAReleaseOfItsOwnIsUnanswered) {
  conversation c;
  c.starts();
  c.resigns(duration::max());
  c.acquire_is_unknown();
  c.says(event::resume{});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(c.release_is_unknown(), "") << "it may be carried out yet";
    ASSERT_EQ(c.at(c.next_wake()).wakes(), "release any") << "try " << i;
  }
  EXPECT_EQ(c.is_released(), "acquire");
}

TEST(Candidate, ResumedWhileAReleaseIsInFlightWaitsForItsEnd) {
  conversation c;
  c.starts();
  c.resigns(duration::max());
  c.at(1s).acquire_is_unknown();
  // If it were carried out after the acquire, the release would end the new term.
  EXPECT_EQ(c.at(2s).says(event::resume{}), "");
  EXPECT_EQ(c.is_released(), "acquire");
}

TEST(Candidate, AsideAndNamedByTheWatchReleasesWhatItDidNotKnowOf) {
  conversation c;
  c.starts();
  c.is_refused();
  c.resigns(duration::max());
  EXPECT_EQ(c.says(shows({mine(core::version{7})}, core::version{7})), "publish, release any");
}

TEST(Observer, WatchesAndNeverAsks) {
  conversation c(with(member(), [](auto& s) { s.campaigns = false; }));
  EXPECT_EQ(c.now_in(), phase::observer);
  EXPECT_EQ(c.starts(), "watch, publish");
  EXPECT_EQ(c.says(shows_free()), "publish");
  EXPECT_EQ(c.says(shows_other()), "publish");
  EXPECT_EQ(c.says(event::resume{}), "");
  EXPECT_EQ(c.says(event::watch_failed{}), "watch");
  EXPECT_EQ(c.next_wake(), duration::max());
  EXPECT_EQ(c.view().seen->holders.front().identity, "other");
}

TEST(Observer, EndsAtOnce) {
  conversation c(with(member(), [](auto& s) { s.campaigns = false; }));
  c.starts();
  EXPECT_EQ(c.shuts_down(),
            "observer > draining: shutdown, publish, draining > stopped: shutdown, publish, "
            "finished: shutdown");
}

TEST(Watch, ThatHasLivedForLongIsOpenedAgainAtOnceWhateverWasBefore) {
  conversation c;
  c.starts();
  c.says(event::watch_failed{});
  const duration first = c.watched.not_before - c.now();
  for (int i = 0; i < 12; ++i) {
    c.at(c.watched.not_before - start_of_talk);
    c.says(event::watch_failed{});
  }
  EXPECT_GT(c.watched.not_before - c.now(), 10 * first);
  c.at(c.watched.not_before - start_of_talk + 1h);
  c.says(event::watch_failed{});
  EXPECT_EQ(c.watched.not_before - c.now(), first);
}

/// The store grants a try that timed out while the member drains another term: nobody else can get
/// the lease as long as the session lives.
TEST(Candidate, TermThatItsSessionHasGotMeanwhileIsAskedFor) {
  conversation c;
  c.becomes_active();
  c.says(shows({mine()}, five));
  c.resigns(1h);
  c.says(shows({mine(core::version{6})}, core::version{6}));
  c.workload_exits();
  EXPECT_EQ(c.now_in(), phase::candidate);
  EXPECT_LE(c.next_wake(), c.now() - start_of_talk + 50ms);
  EXPECT_EQ(c.at(c.next_wake()).wakes(), "release any");
}

}  // namespace
}  // namespace tenure::core::testing
