// A new agent whose guard still runs the workload of the previous agent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

using ::testing::HasSubstr;

constexpr version six{6};

/// With stop_at 10 s and kill_at 12 s after the start.
event::workload_found of_term_five(bool stopping = false) {
  return {.version = five,
          .stop_at = start_of_talk + 10s,
          .kill_at = start_of_talk + 12s,
          .stopping = stopping};
}

/// An agent that has found the workload of term five and has sent an acquire, now at 1 s.
conversation adopting(election_settings settings = member()) {
  conversation c(std::move(settings));
  c.says(of_term_five());
  EXPECT_THAT(c.starts(), HasSubstr("acquire"));
  EXPECT_TRUE(c.subject().adopting());
  return c.at(1s);
}

TEST(Adopt, WorkloadGoesOnIfTheStoreGrantsItsVeryTerm) {
  conversation c = adopting();
  EXPECT_EQ(c.is_granted(), "candidate > active, publish, arm 5 until 14.35s")
      << "no lock_delay and no start";
  EXPECT_FALSE(c.subject().adopting());
  EXPECT_TRUE(c.is_valid());
  EXPECT_TRUE(c.view().workload_running);
  EXPECT_TRUE(c.subject().wants_renewal());
  EXPECT_EQ(c.at(6s).is_renewed(5s), "arm 5 until 19.35s, publish");
}

/// As on etcd, where the agent before had a shorter ttl: its lease keeps that.
TEST(Adopt, LeaseThatIsTooShortForNewSettingsEndsWhatRunsAndIsGivenUp) {
  conversation c = adopting();
  EXPECT_EQ(c.is_granted(five, 0s, 7500ms),
            "candidate > draining: ttl_too_short, publish, stop by 1s: ttl_too_short");
  EXPECT_EQ(c.workload_exits(), "publish, release 5");
  c.is_released();
  EXPECT_GE(c.next_wake(), 15s) << "the next grant would be no longer";
}

TEST(Adopt, NewGrantCannotBeMistakenForTheTermThatIsLookedFor) {
  EXPECT_EQ(adopting().asked.above, five) << "a store that counts from there grants six";
}

TEST(Adopt, NobodyIsToldThatItHoldsBeforeTheStoreHasSaidSo) {
  conversation c = adopting();
  EXPECT_FALSE(c.is_valid());
  EXPECT_TRUE(c.view().workload_running);
}

TEST(Adopt, TermThatTheWatchShowsUnderOurNameIsOurs) {
  conversation c = adopting();
  c.says(shows({mine()}, five));
  EXPECT_THAT(c.is_granted(), HasSubstr("candidate > active"));
}

TEST(Adopt, TermThatTheWatchShowsUnderAnotherNameIsOver) {
  conversation c = adopting();
  EXPECT_EQ(c.says(shows({{"other", five}}, five)),
            "publish, candidate > draining: taken_over, publish, stop by 1s: taken_over");
}

TEST(Adopt, TermThatTheWatchNoLongerShowsEndsBeforeTheStoreHasAnswered) {
  conversation c = adopting();
  EXPECT_EQ(c.says(shows_free(five)),
            "publish, candidate > draining: revoked, publish, stop by 1s: revoked");
}

TEST(Adopt, WhatIsFoundAfterTheNewsOfItsEndIsKilledAtOnce) {
  for (const bool stopping : {false, true}) {
    conversation free;
    free.starts();
    free.says(event::guard_away{});
    free.says(shows_free(core::version{9}));
    EXPECT_EQ(free.at(1s).says(of_term_five(stopping)),
              "publish, candidate > draining: revoked, publish, stop by 1s: revoked");
    conversation taken;
    taken.starts();
    taken.says(event::guard_away{});
    taken.says(shows_other());
    EXPECT_EQ(taken.at(1s).says(of_term_five(stopping)),
              "publish, candidate > draining: taken_over, publish, stop by 1s: taken_over");
  }
}

TEST(Adopt, WhatIsFoundWhileTheStoreStillShowsItsTermHasItsDrain) {
  conversation c;
  c.starts();
  c.says(event::guard_away{});
  c.says(shows({{"me", five}}, core::version{9}));
  EXPECT_EQ(c.at(1s).says(of_term_five(true)),
            "publish, candidate > draining: guard_gone, publish, stop by 21s: guard_gone")
      << "it is of the session of an agent before";
}

TEST(Adopt, RenewalOfTheNewTermMovesNoDeadlineOfWhatStillRunsUnderTheOldOne) {
  conversation c = adopting();
  c.is_granted(six, 1s);
  EXPECT_TRUE(c.subject().wants_renewal()) << "nobody else starts before what runs is dead";
  EXPECT_EQ(c.at(3s).is_renewed(2s, 15s, six), "publish");
  EXPECT_EQ(c.workload_exits(), "publish, release 6");
}

TEST(Adopt, AnotherTermOfOursEndsWhatRunsAndIsGivenUp) {
  conversation c = adopting();
  EXPECT_EQ(c.is_granted(six),
            "candidate > draining: session_invalid, publish, stop by 1s: session_invalid");
  EXPECT_EQ(c.workload_exits(), "publish, release 6");
  EXPECT_FALSE(c.let_go.clean) << "what has run under term 5 is dead, but was not of this term";
  EXPECT_THAT(c.is_released(), HasSubstr("draining > candidate"));
}

TEST(Adopt, RefusalEndsWhatRunsAtOnce) {
  conversation c = adopting();
  EXPECT_EQ(c.is_refused(), "candidate > draining: taken_over, publish, stop by 1s: taken_over");
  EXPECT_THAT(c.workload_exits(), HasSubstr("draining > candidate")) << "nothing to release";
}

TEST(Adopt, SoDoesARefusalOfATryThatWasGivenUp) {
  conversation c = adopting();
  const attempt first = c.asked.number;
  c.acquire_is_unknown();
  c.at(c.next_wake()).wakes();
  ASSERT_NE(c.asked.number, first);
  EXPECT_THAT(c.says(event::refused{.number = first}),
              HasSubstr("candidate > draining: taken_over"));
}

TEST(Adopt, UnknownIsAskedAgainUntilItsLeaseMustStop) {
  conversation c = adopting();
  EXPECT_EQ(c.acquire_is_unknown(), "");
  EXPECT_LT(c.next_wake(), 2s);
  EXPECT_EQ(c.at(2s).wakes(), "acquire");
  EXPECT_EQ(c.acquire_is_unknown(), "");
  EXPECT_EQ(c.at(10s).wakes(),
            "candidate > draining: renew_timeout, publish, stop by 12s: renew_timeout");
  EXPECT_EQ(c.workload_exits(), "publish, release any") << "the store may still count us as holder";
}

TEST(Adopt, AnswerThatComesWhenItMustHaveStoppedIsTooLate) {
  conversation c = adopting();
  EXPECT_EQ(c.at(10s).is_granted(five, 9s),
            "candidate > draining: renew_timeout, publish, stop by 12s: renew_timeout");
  EXPECT_EQ(c.workload_exits(), "publish, release any");
}

TEST(Adopt, WorkloadThatEndsMeanwhileHasEndedByItself) {
  conversation c = adopting();
  EXPECT_EQ(c.workload_exits(), "publish, candidate > draining: workload_exited, publish");
  EXPECT_EQ(c.is_granted(), "release any");
  EXPECT_THAT(c.is_released(), HasSubstr("finished: workload_exited"));
}

TEST(Adopt, EndAndResignationGiveItItsDrain) {
  conversation ending = adopting();
  EXPECT_EQ(ending.shuts_down(), "candidate > draining: shutdown, publish, stop by 21s: shutdown");
  conversation resigning = adopting();
  EXPECT_EQ(resigning.resigns(1h),
            "candidate > draining: resigned, publish, stop by 21s: resigned");
  conversation unhealthy = adopting();
  EXPECT_EQ(unhealthy.says(event::workload_unhealthy{}),
            "candidate > draining: unhealthy, publish, stop by 21s: unhealthy");
}

TEST(Adopt, WhatHadItsTimeBeforeTheStoreWasReachedEndsAndTheElectionIsWatched) {
  conversation c;
  c.says(of_term_five());
  EXPECT_EQ(c.at(11s).says(event::started{}),
            "candidate > draining: renew_timeout, publish, stop by 12s: renew_timeout, watch");
  EXPECT_EQ(c.workload_exits(), "publish, release any");
  EXPECT_THAT(c.is_released(), HasSubstr("draining > candidate"));
  EXPECT_EQ(c.at(12s).says(shows_free(six)), "publish, acquire");
}

TEST(Adopt, WhatIsDyingAlreadyIsWaitedForAndNothingIsAskedBefore) {
  conversation c;
  c.says(of_term_five(true));
  EXPECT_EQ(c.starts(), "watch, publish, publish");
  EXPECT_EQ(c.next_wake(), duration::max());
  EXPECT_EQ(c.at(1h).wakes(), "");
  EXPECT_EQ(c.workload_exits(), "publish, release any") << "its term is over";
  EXPECT_EQ(c.is_released(), "acquire");
  EXPECT_EQ(c.asked.above, five);
  EXPECT_THAT(c.is_granted(six, 1h), HasSubstr("candidate > pending"));
}

/// An agent whose session an earlier agent used; no workload is left of that one.
std::string inherits(conversation& c, core::version last_term = five) {
  return c.says(event::started{.session_was_used = true, .last_term = last_term});
}

TEST(Inherit, ReleasesWhateverTheSessionHoldsBeforeItsFirstCampaign) {
  conversation c;
  EXPECT_EQ(inherits(c), "watch, publish, release any");
  EXPECT_FALSE(c.let_go.clean);
  EXPECT_EQ(c.says(shows_free(no_version)), "publish");
  EXPECT_EQ(c.at(1s).release_is_unknown(), "");
  EXPECT_LT(c.next_wake(), 2s);
  EXPECT_EQ(c.at(2s).wakes(), "release any") << "nothing else before that is answered";
  EXPECT_EQ(c.is_released(), "acquire");
  EXPECT_THAT(c.is_granted(six, 2s), HasSubstr("candidate > pending"));
}

/// Of two, one could be carried out after the next grant.
TEST(Inherit, ReleaseThatIsInFlightIsNotSentAgain) {
  conversation c;
  c.says(of_term_five(true));
  EXPECT_THAT(c.at(1s).workload_exits(), HasSubstr("release any"));
  EXPECT_EQ(inherits(c), "watch, publish");
  c.says(shows_free(no_version));
  EXPECT_EQ(c.is_released(), "acquire");
}

TEST(Inherit, TermThatHasRunIsNotBelievedAgain) {
  conversation c;
  inherits(c);
  c.is_released();
  c.says(shows_free(no_version));
  EXPECT_EQ(c.asked.above, five);
  EXPECT_EQ(c.is_granted(five), "release any");
  c.is_released();
  c.at(c.next_wake()).wakes();
  EXPECT_EQ(c.is_granted(core::version{4}),
            "candidate > draining: version_regressed, publish, release 4");
}

TEST(Inherit, ReleasesAlsoWhileItMayNotCampaign) {
  conversation c;
  c.says(event::guard_away{});
  EXPECT_EQ(inherits(c), "watch, publish, release any");
  EXPECT_EQ(c.is_released(), "");
  c.says(shows_free(no_version));
  EXPECT_EQ(c.says(event::guard_back{}), "acquire");
}

TEST(Inherit, GuardThatIsFoundLaterKnowsVersionsToo) {
  conversation c;
  c.says(event::guard_away{});
  c.starts();
  EXPECT_EQ(c.says(event::guard_back{.last_term = five}), "acquire");
  EXPECT_EQ(c.is_granted(core::version{4}),
            "candidate > draining: version_regressed, publish, release 4");
}

TEST(Inherit, GuardThatIsBackWithItsWorkloadDoesNotForbidTheTermOfThat) {
  conversation c = adopting();
  c.says(event::guard_back{.last_term = five});
  EXPECT_THAT(c.is_granted(), HasSubstr("candidate > active"));
}

TEST(Inherit, WorkloadThatRunsIsAdoptedInsteadAndItsTermBelieved) {
  conversation c;
  c.says(of_term_five());
  EXPECT_THAT(inherits(c), HasSubstr("acquire"));
  EXPECT_THAT(c.is_granted(), HasSubstr("candidate > active"));
}

TEST(Inherit, ObserverReleasesNothing) {
  conversation c(with(member(), [](auto& s) { s.campaigns = false; }));
  EXPECT_EQ(inherits(c), "watch, publish");
}

TEST(Inherit, EndLeavesNothingHeld) {
  conversation c;
  inherits(c);
  EXPECT_THAT(c.shuts_down(), HasSubstr("candidate > draining: shutdown"));
  EXPECT_THAT(c.is_released(), HasSubstr("finished: shutdown"));
}

TEST(Adopt, LossAfterwardsIsAsAnyOther) {
  conversation c = adopting();
  c.is_granted();
  EXPECT_EQ(c.is_lost(),
            "active > draining: session_invalid, publish, stop by 1s: session_invalid");
  EXPECT_THAT(c.workload_exits(), HasSubstr("draining > candidate"));
}

TEST(Adopt, WhoStandsAsideStopsWhatItFindsAndReleasesOnlyThen) {
  conversation c;
  c.starts();
  c.acquire_is_unknown();
  EXPECT_EQ(c.at(1s).resigns(1h), "release any");
  EXPECT_EQ(c.says(of_term_five()),
            "publish, candidate > draining: resigned, publish, stop by 21s: resigned");
  EXPECT_EQ(c.workload_exits(), "publish, release any");
}

TEST(Adopt, OnlyACandidateFindsAnything) {
  conversation holder;
  holder.becomes_active();
  EXPECT_EQ(holder.says(of_term_five()), "");
  EXPECT_FALSE(holder.subject().adopting());
  conversation observer(with(member(), [](auto& s) { s.campaigns = false; }));
  EXPECT_EQ(observer.says(of_term_five()), "");
  EXPECT_FALSE(observer.subject().adopting());
}

/// A kill at the found workload's deadline is too late for a member that waits for lock_delay from
/// when it learns that the term is over.
TEST(Adopt, TimeThatIsOverIsCutShortByTheNewsThatTheTermIs) {
  conversation c = adopting();
  EXPECT_EQ(c.at(10s).wakes(),
            "candidate > draining: renew_timeout, publish, stop by 12s: renew_timeout");
  EXPECT_THAT(c.at(10100ms).says(shows_free(six)), HasSubstr("stop by 10.1s: revoked"));
  EXPECT_THAT(c.at(10200ms).says(shows_other(core::version{7})),
              ::testing::Not(HasSubstr("stop by")));
}

}  // namespace
}  // namespace tenure::core::testing
