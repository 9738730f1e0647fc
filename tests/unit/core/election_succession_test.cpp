// What a member says of itself, whom it lets come first, and for whom it makes way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

core::member ready(std::string who, std::int64_t since, std::int32_t priority = 0) {
  return {.identity = std::move(who),
          .says = readiness{.since_unix_ms = since, .priority = priority, .started_unix_ms = 1}};
}

event::observed lists(event::observed what, std::vector<core::member> members) {
  what.what.members = std::move(members);
  return what;
}

conversation waits_behind(std::vector<core::member> members) {
  conversation c;
  c.starts();
  c.is_refused();
  c.says(lists(shows_other(), std::move(members)));
  return c;
}

// --- what it says ----------------------------------------------------------------------------

TEST(Readiness, IsSaidOnceTheWatchIsOpen) {
  conversation c;
  c.says(event::started{});
  EXPECT_THAT(c.announced, ElementsAre(false));
  c.says(shows_other());
  EXPECT_THAT(c.announced, ElementsAre(false, true));
  c.at(1s).says(shows_other(core::version{7}));
  EXPECT_THAT(c.announced, ElementsAre(false, true)) << "nothing has changed";
}

TEST(Readiness, EndsWithEverythingThatHoldsAMemberBack) {
  conversation c = waits_behind({});
  c.announced.clear();
  c.says(event::workload_unhealthy{});
  EXPECT_THAT(c.announced, ElementsAre(false));
  c.says(event::guard_away{});
  EXPECT_THAT(c.announced, ElementsAre(false));
  c.says(event::workload_healthy{});
  EXPECT_THAT(c.announced, ElementsAre(false));
  c.says(event::guard_back{});
  EXPECT_THAT(c.announced, ElementsAre(false, true));
  c.resigns(duration::max());
  EXPECT_THAT(c.announced, ElementsAre(false, true, false));
  c.says(event::resume{});
  EXPECT_THAT(c.announced, ElementsAre(false, true, false, true));
}

TEST(Readiness, ComesBackWhenTheTimeAsideIsOver) {
  conversation c = waits_behind({});
  c.announced.clear();
  c.at(1s).resigns(2s);
  c.at(3s).wakes();
  EXPECT_THAT(c.announced, ElementsAre(false, true));
}

TEST(Readiness, IsNotSaidByAnObserver) {
  conversation c(with(member(), [](auto& s) { s.campaigns = false; }));
  c.starts();
  EXPECT_THAT(c.announced, IsEmpty());
}

TEST(Readiness, IsNotWrittenForATermAndIsSaidAnewAfterIt) {
  conversation c;
  c.becomes_active();
  EXPECT_THAT(c.announced, ElementsAre(false, true)) << "a grant costs no other write";
  c.resigns(0s);
  c.workload_exits();
  EXPECT_THAT(c.announced, ElementsAre(false, true)) << "nor does a hand-over before it is over";
  c.is_released();
  EXPECT_THAT(c.announced, ElementsAre(false, true, true)) << "it comes behind those who waited";
}

// --- whom it lets come first -----------------------------------------------------------------

TEST(Succession, TheFirstInOrderTriesAtOnce) {
  conversation c = waits_behind({ready("me", 10), ready("b", 20), ready("other", 5)});
  EXPECT_EQ(c.at(1s).says(lists(shows_free(core::version{6}),
                                {ready("me", 10), ready("b", 20), ready("other", 5)})),
            "publish, acquire")
      << "what the holder said before its term does not count";
  EXPECT_EQ(c.view().next->identity, "me");
}

TEST(Succession, TheSecondWaitsAndTriesIfTheFirstDoesNothing) {
  const std::vector<core::member> all{ready("me", 10), ready("b", 5)};
  conversation c = waits_behind(all);
  EXPECT_EQ(c.at(1s).says(lists(shows_free(core::version{6}), all)), "publish");
  EXPECT_EQ(c.next_wake(), 1100ms);
  EXPECT_EQ(c.at(1100ms).wakes(), "acquire");
}

TEST(Succession, TheSecondDoesNotTryOnceItSeesTheGrantToTheFirst) {
  const std::vector<core::member> all{ready("me", 10), ready("b", 5)};
  conversation c = waits_behind(all);
  c.at(1s).says(lists(shows_free(core::version{6}), all));
  c.at(1010ms).says(lists(shows({{"b", core::version{7}}}, core::version{7}), all));
  EXPECT_EQ(c.at(1100ms).wakes(), "");
  EXPECT_EQ(c.next_wake(), duration::max());
}

TEST(Succession, NewsOfTheListDoNotMakeItWaitForLonger) {
  const std::vector<core::member> all{ready("me", 10), ready("b", 5)};
  conversation c = waits_behind(all);
  c.at(1s).says(lists(shows_free(core::version{6}), all));
  c.at(1090ms).says(lists(shows_free(core::version{6}), {ready("me", 10), ready("b", 6)}));
  EXPECT_EQ(c.next_wake(), 1100ms);
}

TEST(Succession, WhoBecomesTheFirstWhileTheLeaseIsFreeTriesAtOnce) {
  const std::vector<core::member> all{ready("me", 10), ready("b", 5)};
  conversation c = waits_behind(all);
  c.at(1s).says(lists(shows_free(core::version{6}), all));
  EXPECT_EQ(c.at(1050ms).says(lists(shows_free(core::version{6}), {ready("me", 10)})),
            "publish, acquire");
}

TEST(Succession, WaitsBehindTheFirstWhenTheStoreSaidWhenALeaseRunsOut) {
  const std::vector<core::member> all{ready("me", 10), ready("b", 5)};
  conversation c;
  c.starts();
  c.is_refused();
  c.says(lists(shows({{"other", core::version{6}}}, core::version{6}, start_of_talk + 3s), all));
  EXPECT_EQ(c.next_wake(), 3100ms);
}

TEST(Succession, AWorkloadThatWasFoundWaitsForNobody) {
  conversation c;
  c.says(event::workload_found{
      .version = five, .stop_at = start_of_talk + 10s, .kill_at = start_of_talk + 12s});
  EXPECT_THAT(c.says(event::started{}), ::testing::HasSubstr("acquire"));
  EXPECT_THAT(c.announced, IsEmpty());
  c.acquire_is_unknown();
  EXPECT_EQ(c.says(lists(shows_free(no_version), {ready("b", 5)})), "publish, acquire");
}

// --- the line ----------------------------------------------------------------------------------

TEST(Line, TheFirstInOrderStandsInItWhileSomebodyHolds) {
  conversation c = waits_behind({ready("me", 10), ready("b", 20), ready("other", 5)});
  EXPECT_TRUE(c.stands_in_line);
  c.says(lists(shows_other(), {ready("me", 10), ready("b", 20, 1)}));
  EXPECT_FALSE(c.stands_in_line) << "b comes first now";
  c.says(lists(shows_other(), {ready("me", 10), ready("b", 0, 1)}));
  EXPECT_TRUE(c.stands_in_line);
  c.says(lists(shows_free(core::version{6}), {ready("me", 10)}));
  EXPECT_FALSE(c.stands_in_line) << "it asks for the lease itself";
}

TEST(Line, WhoMayNotHoldLeavesIt) {
  for (const election_event& reason :
       {election_event(event::workload_unhealthy{}), election_event(event::guard_away{}),
        election_event(event::resign{.aside = duration::max()}),
        election_event(event::resign{.aside = 2s}), election_event(event::shutdown{})}) {
    conversation c = waits_behind({ready("me", 10)});
    ASSERT_TRUE(c.stands_in_line);
    c.says(reason);
    EXPECT_FALSE(c.stands_in_line);
  }
}

TEST(Line, WhoeverIsNotListedDoesNotStandInIt) {
  conversation c;
  c.starts();
  c.is_refused();
  c.says(shows_other());
  EXPECT_FALSE(c.stands_in_line) << "the store lists nobody";
  c.says(lists(shows_other(), {ready("b", 20)}));
  EXPECT_FALSE(c.stands_in_line);
}

TEST(Line, WithSeveralSlotsThereIsNone) {
  conversation c(with(member(), [](auto& s) { s.slots = 2; }));
  c.starts();
  c.is_refused();
  c.says(lists(shows({{"other", five}, {"another", core::version{6}}}, core::version{6}),
               {ready("me", 10)}));
  EXPECT_FALSE(c.stands_in_line);
}

TEST(Line, APlaceThatHasBecomeATermIsAskedForAtOnce) {
  conversation c = waits_behind({ready("me", 10)});
  EXPECT_EQ(
      c.at(1s).says(lists(shows({mine(core::version{7})}, core::version{8}), {ready("me", 10)})),
      "publish, acquire");
  EXPECT_FALSE(c.stands_in_line);
  EXPECT_THAT(c.is_granted(core::version{7}, 1s, 15s, true), ::testing::HasSubstr("start 7"));
}

TEST(Line, ATermOfWhoStandsAsideIsGivenBackAtOnce) {
  conversation c = waits_behind({ready("me", 10)});
  c.says(event::workload_unhealthy{});
  EXPECT_EQ(c.at(1s).says(lists(shows({mine(core::version{7})}, core::version{8}), {})),
            "publish, release any");
}

TEST(Line, ATermThatIsShownBeforeItsReleaseIsKnownIsTakenUp) {
  // Its own earlier release is not answered yet when its place has become a term.
  conversation c = waits_behind({ready("me", 10)});
  c.says(event::workload_unhealthy{});
  c.says(lists(shows({mine(core::version{7})}, core::version{8}), {}));
  c.says(event::workload_healthy{});
  EXPECT_EQ(c.at(1100ms).is_released(), "acquire") << "first the release, then the next try";
}

// --- for whom it makes way -------------------------------------------------------------------

election_settings makes_way(std::int32_t priority = 0) {
  return with(member(), [&](auto& s) {
    s.succeeds.preempt = true;
    s.succeeds.priority = priority;
  });
}

/// Sees that b, which is ready, has a higher priority.
event::observed outranked(std::int32_t by = 1) {
  return lists(shows({mine()}, five), {ready("me", 5), ready("b", 10, by)});
}

/// Its renewals are acknowledged until then.
void holds_until(conversation& c, duration until) {
  for (duration t = c.now() - start_of_talk; t < until; t += 5s) c.at(t).is_renewed(t);
  c.at(until - 1ms).is_renewed(until - 1ms);
}

TEST(Preemption, AHigherPriorityGetsTheLeaseWhenTheHoldDownIsOver) {
  conversation c(makes_way());
  c.becomes_active();
  c.at(2s).says(outranked());
  holds_until(c, 62s);
  ASSERT_EQ(c.now_in(), phase::active);
  EXPECT_EQ(c.next_wake(), 62s) << "four TTLs after b was seen";
  EXPECT_EQ(c.at(62s).wakes(), "active > draining: preempted, publish, stop by 82s: preempted");
  EXPECT_EQ(c.subject().heir(), "b");
  EXPECT_EQ(c.workload_exits(), "publish, release 5");
}

TEST(Preemption, CountsFromTheGrantIfTheOtherWasReadyBefore) {
  conversation c(makes_way());
  c.starts();
  c.says(lists(shows_free(no_version), {ready("me", 5), ready("b", 10, 1)}));
  c.at(10ms).is_granted();
  c.at(510ms).wakes();
  c.at(520ms).says(outranked());
  holds_until(c, 60s);
  EXPECT_EQ(c.next_wake(), 60510ms);
}

TEST(Preemption, AMemberThatComesAndGoesStartsItsTimeAgain) {
  conversation c(makes_way());
  c.becomes_active();
  c.at(2s).says(outranked());
  holds_until(c, 50s);
  c.at(50s).says(lists(shows({mine()}, five), {ready("me", 5), ready("b", 0, 1)}));
  c.at(51s).says(outranked());
  holds_until(c, 110s);
  EXPECT_EQ(c.next_wake(), 111s);
}

/// It is seen for much longer than the hold-down, and changes nothing.
void stays(election_settings settings, std::int32_t other) {
  conversation c(std::move(settings));
  c.becomes_active();
  c.at(2s).says(outranked(other));
  holds_until(c, 200s);
  EXPECT_EQ(c.now_in(), phase::active);
  EXPECT_EQ(c.next_wake(), 200s - 1ms + 12350ms) << "stop_at";
}

TEST(Preemption, OnlyAHigherPriorityIsAReason) {
  stays(makes_way(1), 1);
}

TEST(Preemption, IsOffUnlessAskedFor) {
  stays(member(), 1);
}

TEST(Preemption, DoesNotConcernAnElectionOfSeveralSlots) {
  stays(with(makes_way(), [](auto& s) { s.slots = 2; }), 1);
}

}  // namespace
}  // namespace tenure::core::testing
