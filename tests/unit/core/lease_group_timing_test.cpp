// A lease group with a store that does not answer: tries, deadlines, pauses, wakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/core/lease_group_talk.hpp"

namespace tenure::core::testing {
namespace {

TEST(RenewalTries, UnknownIsTriedAgainInsideTheBudget) {
  session_talk s(1);
  s.activate(0, five, 0s);
  s.at(5s).wake();
  s.at(5100ms).renewal_is_unknown();
  EXPECT_EQ(s.one(0).view().phase, phase::active) << "unknown is not lost";
  EXPECT_FALSE(s.renewal());
  const duration pause = s.next_wake() - 5100ms;
  EXPECT_GE(pause, 10ms);
  EXPECT_LE(pause, 20ms);
  s.at(s.next_wake()).wake();
  EXPECT_TRUE(s.renewal());
}

TEST(RenewalTries, SilentTryIsGivenUpAtItsOwnDeadline) {
  session_talk s(1);
  s.activate(0, five, 0s);
  s.at(5s).wake();
  const attempt first = s.last_renewal();
  const duration deadline = s.next_wake();
  EXPECT_EQ(deadline, 5s + default_timing().try_timeout());
  s.forget();
  s.at(deadline).wake();
  EXPECT_FALSE(s.renewal()) << "after a pause";
  s.at(s.next_wake()).wake();
  ASSERT_TRUE(s.renewal());
  EXPECT_NE(s.last_renewal(), first);
}

TEST(RenewalTries, TwoSilentTriesStartBeforeStopAt) {
  session_talk s(1);
  s.activate(0, five, 0s);
  int tries = 0;
  while (s.one(0).view().phase == phase::active) {
    s.forget();
    s.at(s.next_wake()).wake();
    if (s.renewal()) ++tries;
  }
  EXPECT_GE(tries, 2);
  EXPECT_EQ(s.one(0).view().last_loss, loss_reason::renew_timeout);
}

TEST(RenewalTries, TwoFitIntoAShorterGrantThanTheOneAskedFor) {
  session_talk s(1);
  // stop_at is 5.42 s: 420 ms after the first renewal is due, less than one usual try.
  s.activate(0, five, 0s, 8s);
  int tries = 0;
  while (s.one(0).view().phase == phase::active) {
    s.forget();
    s.at(s.next_wake()).wake();
    if (!s.renewal()) continue;
    ++tries;
    if (tries == 1) EXPECT_LE(s.renewal()->deadline, start_of_talk + 5s + 210ms);
  }
  EXPECT_GE(tries, 2);
}

TEST(RenewalTries, ManyFailuresInARowAreSpreadOutAndNeverDemoteEarly) {
  session_talk s(1);
  s.activate(0, five, 0s);
  duration last_pause = 0s;
  int tries = 0;
  for (;;) {
    s.forget();
    const duration due = s.next_wake();
    s.at(due).wake();
    if (s.one(0).view().phase != phase::active) {
      EXPECT_EQ(due, 12350ms);
      break;
    }
    ASSERT_TRUE(s.renewal());
    ++tries;
    s.renewal_is_unknown();
    const duration pause = std::min(s.next_wake() - due, 12350ms - due);
    if (s.next_wake() < 12350ms) EXPECT_GE(pause, last_pause);
    last_pause = pause;
  }
  EXPECT_GE(tries, 6);
  EXPECT_LE(tries, 30) << "a store that refuses connections is not hammered";
}

TEST(RenewalTries, JitterSpreadsThemOut) {
  session_talk early(1);
  session_talk late(1);
  for (session_talk* s : {&early, &late}) {
    s->activate(0, five, 0s);
    s->at(5s).wake();
  }
  early.entropy(0).renewal_is_unknown();
  late.entropy(10'000'000).renewal_is_unknown();
  EXPECT_LT(early.next_wake(), late.next_wake());
}

TEST(RenewalTries, SuccessStartsThePausesAfresh) {
  session_talk s(1);
  s.activate(0, five, 0s);
  s.at(5s).wake();
  for (int i = 0; i < 4; ++i) {
    s.renewal_is_unknown();
    s.at(s.next_wake()).wake();
  }
  const duration sent = s.next_wake() - default_timing().try_timeout();
  s.acknowledge(sent);
  s.at(sent + 5s).wake();
  s.renewal_is_unknown();
  EXPECT_EQ(s.next_wake(), sent + 5s + 10ms);
}

TEST(RenewalTries, LateAnswerToATryThatWasGivenUpIsNotARenewal) {
  session_talk s(1);
  s.activate(0, five, 0s);
  s.at(5s).wake();
  const attempt first = s.last_renewal();
  s.at(s.next_wake()).wake();
  s.at(s.next_wake()).wake();
  ASSERT_NE(s.last_renewal(), first);
  s.acknowledge(5s, 15s, {}, first);
  EXPECT_EQ(s.one(0).view().lease->sent_at, start_of_talk);
  EXPECT_EQ(s.subject().renewing().size(), 1U) << "the second is still in flight";
}

TEST(RenewalTries, SecondAnswerToOneTryIsIgnored) {
  session_talk s(1);
  s.activate(0, five, 0s);
  s.at(5s).wake();
  const attempt only = s.last_renewal();
  s.at(5100ms).acknowledge(5s);
  s.at(5200ms).acknowledge(5150ms, 15s, {}, only);
  EXPECT_EQ(s.one(0).view().lease->sent_at, start_of_talk + 5s);
}

TEST(SessionWake, IsTheEarliestOfAllElectionsAndOfTheRenewal) {
  session_talk s(3);
  s.activate(0, five, 0s);
  EXPECT_EQ(s.next_wake(), 3675ms) << "the others' acquires are given up then";
  s.grant(1, core::version{6}, 0s);
  EXPECT_EQ(s.next_wake(), 500ms) << "lock_delay of election 1";
}

TEST(SessionWake, WakesTheElectionsThatAreDueAndNoOther) {
  session_talk s(2);
  s.grant(0, five, 0s);
  s.activate(1, core::version{6}, 0s);
  s.forget();
  s.at(500ms).wake();
  ASSERT_FALSE(s.orders().empty());
  for (const addressed& order : s.orders()) EXPECT_EQ(order.which, election_index{0});
}

TEST(SessionWake, BeforeAnythingIsDueDoesNothing) {
  session_talk s(2);
  s.activate(0, five, 0s);
  s.activate(1, core::version{6}, 0s);
  s.forget();
  s.at(4s).wake();
  EXPECT_TRUE(s.orders().empty());
  EXPECT_FALSE(s.renewal());
}

TEST(SessionWake, IsNeverInThePastAfterAWake) {
  session_talk s(3);
  s.activate(0, five, 0s);
  for (int i = 0; i < 500; ++i) {
    s.forget();
    const duration due = s.next_wake();
    s.at(due).wake();
    ASSERT_GT(s.next_wake(), due) << "a loop that would turn without end";
  }
}

TEST(SessionWake, RetriesOfManyElectionsDoNotFallOnOneInstant) {
  session_talk s(50);
  s.entropy(0x1234'5678'9abc'def0);
  s.at(3675ms).wake();
  int at_first = 0;
  for (std::uint32_t i = 0; i < 50; ++i) {
    if (s.one(i).next_wake() == s.subject().next_wake()) ++at_first;
  }
  EXPECT_LT(at_first, 5);
}

TEST(SessionWake, AfterALongSleepEveryLeaseIsOverBeforeAnythingIsRenewed) {
  session_talk s(2);
  s.activate(0, five, 0s);
  s.activate(1, core::version{6}, 0s);
  s.at(1h).wake();
  EXPECT_FALSE(s.renewal());
  EXPECT_EQ(s.one(0).view().phase, phase::draining);
  EXPECT_EQ(s.one(1).view().phase, phase::draining);
}

TEST(SessionWake, RenewalAnsweredAfterALongSleepIsNotBelieved) {
  session_talk s(1);
  s.activate(0, five, 0s);
  s.at(5s).wake();
  s.at(1h).acknowledge(5s);
  EXPECT_EQ(s.one(0).view().phase, phase::draining);
  EXPECT_FALSE(s.one(0).view().valid_at(start_of_talk + 1h));
}

}  // namespace
}  // namespace tenure::core::testing
