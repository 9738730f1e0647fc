// A lease group: many elections, one renewal.
#include "core/lease_group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "unit/core/lease_group_talk.hpp"

namespace tenure::core::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Session, RenewsOnceARenewIntervalHasPassedSinceTheSendOfTheGrant) {
  session_talk s(1);
  s.at(1s).grant(0, five, 0s);
  EXPECT_EQ(s.subject().next_wake(), start_of_talk + 1500ms) << "the end of lock_delay";
  s.at(1500ms).wake();
  EXPECT_EQ(s.subject().next_wake(), start_of_talk + 5s) << "from the send, not from the answer";
  s.at(5s - 1ns).wake();
  EXPECT_FALSE(s.renewal());
  s.at(5s).wake();
  ASSERT_TRUE(s.renewal());
  EXPECT_EQ(s.renewal()->deadline, start_of_talk + 5s + default_timing().try_timeout());
}

TEST(Session, EveryElectionThatHoldsIsInOneRenewal) {
  session_talk s(4);
  s.grant(0, core::version{5}, 0s);
  s.grant(1, core::version{6}, 0s);
  s.grant(3, core::version{8}, 0s);
  s.at(5s).wake();
  ASSERT_TRUE(s.renewal());
  EXPECT_THAT(s.terms_in_renewal(), ElementsAre(5, 6, 8)) << "election 2 holds nothing";
}

TEST(Session, ASleepAloneBeginsNothing) {
  session_talk s(2);
  s.activate(0, core::version{5}, 0s);
  s.grant(1, core::version{6}, 0s);
  s.forget();
  s.at(6s).step(0, event::slept{5s});
  s.step(1, event::slept{5s});
  EXPECT_FALSE(s.renewal()) << "that is due";
  EXPECT_THAT(s.orders(), IsEmpty()) << "the lock delay of the second one is over";
  EXPECT_LE(s.next_wake(), 6s);
  // Which may be news by which the machine woke up.
  s.step(0, event::workload_unseen{});
  EXPECT_THAT(s.terms_in_renewal(), ElementsAre(6)) << "a term whose workload nobody sees ends";
}

TEST(Session, HoldsNothingRenewsNothing) {
  session_talk s(2);
  s.at(1h).wake();
  EXPECT_FALSE(s.renewal());
  EXPECT_THAT(s.subject().renewing(), IsEmpty());
}

TEST(Session, AcknowledgedRenewalExtendsEveryTermInIt) {
  session_talk s(2);
  s.grant(0, core::version{5}, 0s);
  s.grant(1, core::version{6}, 0s);
  s.at(5s).wake();
  s.at(6s).acknowledge(5s);
  for (const std::uint32_t i : {0U, 1U}) {
    EXPECT_EQ(s.one(i).view().lease->stop_at, start_of_talk + 5s + 12350ms);
  }
  EXPECT_FALSE(s.renewal());
  s.at(10s - 1ns).wake();
  EXPECT_FALSE(s.renewal());
  s.at(10s).wake();
  EXPECT_TRUE(s.renewal());
}

TEST(Session, TermsThatTheStoreSaysAreOverAreLostAndTheOthersRenewed) {
  session_talk s(3);
  for (std::uint32_t i = 0; i < 3; ++i) s.activate(i, core::version{5 + i}, 0s);
  s.at(5s).wake();
  const std::vector<renewal_loss> lost{
      {.which = election_index{2}, .why = loss_reason::revoked},
      {.which = election_index{0}, .why = loss_reason::session_invalid}};
  s.at(5100ms).acknowledge(5s, 15s, lost);
  EXPECT_EQ(s.one(0).view().last_loss, loss_reason::session_invalid);
  EXPECT_EQ(s.one(1).view().phase, phase::active);
  EXPECT_EQ(s.one(1).view().lease->sent_at, start_of_talk + 5s);
  EXPECT_EQ(s.one(2).view().last_loss, loss_reason::revoked);
  s.at(10s).wake();
  EXPECT_THAT(s.terms_in_renewal(), ElementsAre(6)) << "what is lost is not renewed";
}

TEST(Session, ALossIsTakenAtOnceAlthoughAnotherTermIsUnansweredWhichIsTriedAgainSoon) {
  session_talk s(3);
  for (std::uint32_t i = 0; i < 3; ++i) s.activate(i, core::version{5 + i}, 0s);
  s.at(5s).wake();
  const std::vector<renewal_loss> lost{{.which = election_index{1}}};
  const std::vector<election_index> unanswered{election_index{2}};
  s.at(5100ms).acknowledge(5s, 15s, lost, {}, unanswered);
  EXPECT_EQ(s.one(0).view().lease->sent_at, start_of_talk + 5s);
  EXPECT_EQ(s.one(1).view().last_loss, loss_reason::session_invalid);
  EXPECT_EQ(s.one(2).view().phase, phase::active) << "no answer is not no";
  EXPECT_EQ(s.one(2).view().lease->sent_at, start_of_talk);
  s.at(5200ms).wake();
  ASSERT_TRUE(s.renewal());
  EXPECT_THAT(s.terms_in_renewal(), ElementsAre(7));
}

TEST(Session, AfterALossATermThatWasGrantedMeanwhileIsRenewedAtOnce) {
  session_talk s(3);
  s.activate(0, core::version{5}, 0s);
  s.activate(1, core::version{6}, 0s);
  s.at(5s).wake();
  s.at(5500ms).wake();
  s.grant(2, core::version{7}, 5500ms);
  const std::vector<renewal_loss> lost{{.which = election_index{1}}};
  s.at(5600ms).acknowledge(5s, 15s, lost);
  ASSERT_TRUE(s.renewal());
  EXPECT_THAT(s.terms_in_renewal(), ElementsAre(5, 7)) << "it may have the same session";
}

TEST(Session, AfterALossWhatWasRenewedIsNotAskedForAgain) {
  session_talk s(2);
  s.activate(0, core::version{5}, 0s);
  s.activate(1, core::version{6}, 0s);
  s.at(5s).wake();
  const std::vector<renewal_loss> lost{{.which = election_index{1}}};
  s.at(5100ms).acknowledge(5s, 15s, lost);
  EXPECT_FALSE(s.renewal());
}

TEST(Session, ALossCarriesTheRoomThatTheStoreLeaves) {
  session_talk s(2);
  for (std::uint32_t i = 0; i < 2; ++i) s.activate(i, core::version{5 + i}, 0s);
  s.at(500ms).wake();
  s.at(5s).wake();
  s.forget();
  const std::vector<renewal_loss> lost{{.which = election_index{0}, .room = 10s},
                                       {.which = election_index{1}}};
  s.at(5100ms).acknowledge(5s, 15s, lost);
  std::vector<time_point> kills;
  for (const addressed& one : s.orders()) {
    if (const auto* stop = std::get_if<command::stop_workload>(&one.what)) {
      kills.push_back(stop->kill_by);
    }
  }
  EXPECT_THAT(kills, ElementsAre(start_of_talk + 9400ms, start_of_talk + 5100ms));
}

TEST(Session, LossNamedForATermThatIsNotInTheRenewalIsIgnored) {
  session_talk s(2);
  s.activate(0, five, 0s);
  s.at(5s).wake();
  s.at(5100ms).wake();
  s.activate(1, core::version{6}, 5100ms);
  const std::vector<renewal_loss> lost{{.which = election_index{1}, .why = loss_reason::revoked}};
  s.at(6s).acknowledge(5s, 15s, lost);
  EXPECT_EQ(s.one(1).view().phase, phase::active) << "granted after the renewal was sent";
}

TEST(Session, TermOfAnEarlierGrantIsNotExtendedByALateRenewal) {
  session_talk s(1);
  s.activate(0, five, 0s);
  s.at(5s).wake();
  s.step(0, event::lost{.version = five, .why = loss_reason::revoked});
  s.step(0, event::workload_exited{});
  s.at(5100ms).wake();
  s.activate(0, core::version{7}, 5050ms);
  s.at(6s).acknowledge(5s);
  EXPECT_EQ(s.one(0).view().lease->version, core::version{7});
  EXPECT_EQ(s.one(0).view().lease->sent_at, start_of_talk + 5050ms);
}

TEST(Session, OnlyOneRenewalIsInFlight) {
  session_talk s(2);
  s.activate(0, five, 0s);
  s.at(5s).wake();
  const attempt first = s.renewal()->number;
  s.at(5100ms).wake();
  s.forget();
  s.activate(1, core::version{6}, 0s);
  s.at(6s).wake();
  EXPECT_FALSE(s.renewal());
  s.at(6100ms).acknowledge(5s, 15s, {}, first);
  ASSERT_TRUE(s.renewal()) << "the second has been due all the while";
  EXPECT_NE(s.renewal()->number, first);
}

TEST(Session, RenewsWhileAWorkloadDrains) {
  session_talk s(1);
  s.activate(0, five, 0s);
  s.at(1s).step(0, event::resign{1h});
  s.at(5s).wake();
  EXPECT_THAT(s.terms_in_renewal(), ElementsAre(5));
}

TEST(Session, ReleasedTermsAreNotRenewed) {
  session_talk s(1);
  s.activate(0, five, 0s);
  s.at(1s).step(0, event::resign{1h});
  s.step(0, event::workload_exited{});
  s.at(5s).wake();
  EXPECT_FALSE(s.renewal());
}

TEST(Session, CommandsCarryTheElectionThatTheyAreFor) {
  session_talk s(3);
  s.forget();
  s.step(2, event::shutdown{});
  ASSERT_FALSE(s.orders().empty());
  for (const addressed& order : s.orders()) EXPECT_EQ(order.which, election_index{2});
}

TEST(Session, OneElectionsLossLeavesTheOthersAlone) {
  session_talk s(2);
  s.activate(0, five, 0s);
  s.activate(1, core::version{6}, 0s);
  s.at(1s).step(0, event::lost{.version = five, .why = loss_reason::revoked});
  EXPECT_EQ(s.one(0).view().phase, phase::draining);
  EXPECT_EQ(s.one(1).view().phase, phase::active);
}

TEST(Session, EffectsAreAppendedUntilTheyAreCleared) {
  session_talk s(1);
  s.forget();
  s.step(0, event::shutdown{});
  const std::size_t after_one = s.orders().size();
  s.step(0, event::watch_failed{});
  EXPECT_GT(s.orders().size(), after_one);
  s.forget();
  EXPECT_TRUE(s.orders().empty());
}

TEST(SessionDeathTest, ElectionWithAnotherTimingIsAProgrammerError) {
  lease_group s(default_timing());
  EXPECT_DEATH(s.add(with(member(), [](auto& m) { m.when = *resolve({.ttl = 2s}); })), "ttl");
}

}  // namespace
}  // namespace tenure::core::testing
