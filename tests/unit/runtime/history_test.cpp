#include "runtime/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::runtime {
namespace {

using api::past_term;
using core::loss_reason;
using core::version;
using testing::ElementsAre;

core::observation shows(std::vector<core::holder> holders, std::uint64_t as_of) {
  return {.as_of = version{as_of}, .holders = std::move(holders)};
}

core::observation with_release(core::observation seen, core::release_record said) {
  seen.last_release = std::move(said);
  return seen;
}

core::holder holder(const char* name, std::uint64_t version) {
  return {.identity = name, .version = core::version{version}};
}

std::vector<std::uint64_t> versions_of(const history& of) {
  std::vector<std::uint64_t> out;
  for (const past_term& one : *of.terms()) out.push_back(core::number(one.who.version));
  return out;
}

TEST(History, OfTheOneWhoHeldAtTheStartTheBeginningIsNotKnown) {
  history h("me", 10);
  EXPECT_TRUE(h.observed(shows({holder("a", 5)}, 5), 100));
  EXPECT_THAT(*h.terms(), ElementsAre(past_term{.who = holder("a", 5)}));
  EXPECT_FALSE(h.observed(shows({holder("a", 5)}, 5), 200)) << "nothing new";
}

TEST(History, TheReasonThatAHolderGivesForItsReleaseIsQuoted) {
  history h("me", 10);
  h.observed(shows({}, 4), 100);
  h.observed(shows({holder("a", 5)}, 5), 200);
  h.observed(with_release(shows({holder("b", 6)}, 6),
                          {.version = version{5}, .holder = "a", .why = loss_reason::unhealthy}),
             300);
  EXPECT_THAT(*h.terms(), ElementsAre(past_term{.who = holder("a", 5),
                                                .ended = true,
                                                .from_unix_ms = 200,
                                                .to_unix_ms = 300,
                                                .reason = "unhealthy"},
                                      past_term{.who = holder("b", 6), .from_unix_ms = 300}));
}

TEST(History, AHolderWhoVanishesHasLetItsLeaseExpire) {
  history h("me", 10);
  h.observed(shows({}, 4), 100);
  h.observed(shows({holder("a", 5)}, 5), 200);
  h.observed(with_release(shows({}, 5), {.version = version{3}, .holder = "z"}), 300);
  EXPECT_EQ(h.terms()->back().reason, "expired") << "the release is of another term";
}

TEST(History, WhatTheWatchHasNotComeToYetEndsNothing) {
  history h("me", 10);
  h.observed(shows({holder("a", 5)}, 5), 100);
  EXPECT_FALSE(h.observed(shows({}, 4), 200));
  EXPECT_FALSE(h.terms()->back().ended);
}

TEST(History, OurOwnTermEndsWhenItIsDrainedAndForOurOwnReason) {
  history h("me", 10);
  h.observed(shows({}, 4), 100);
  h.began(version{5}, 200);
  h.observed(shows({holder("me", 5)}, 5), 201);
  h.ending(loss_reason::renew_timeout);
  h.observed(shows({holder("b", 6)}, 6), 300);
  EXPECT_FALSE(h.terms()->front().ended) << "its workload is not known to be dead";
  h.ended(400);
  EXPECT_THAT(h.terms()->front(), (past_term{.who = holder("me", 5),
                                             .is_self = true,
                                             .ended = true,
                                             .from_unix_ms = 200,
                                             .to_unix_ms = 400,
                                             .reason = "renew_timeout"}));
}

TEST(History, AnAgentThatComesLaterIsToldOfTheLastRelease) {
  history h("me", 10);
  h.observed(
      with_release(
          shows({holder("b", 6)}, 6),
          {.version = version{5}, .holder = "a", .why = loss_reason::resigned, .at_unix_ms = 50}),
      100);
  EXPECT_THAT(
      *h.terms(),
      ElementsAre(
          past_term{.who = holder("a", 5), .ended = true, .to_unix_ms = 50, .reason = "resigned"},
          past_term{.who = holder("b", 6)}));
}

TEST(History, SeveralSlotsEndOneByOne) {
  history h("me", 10);
  h.observed(shows({holder("a", 5), holder("b", 6)}, 6), 100);
  h.observed(shows({holder("b", 6)}, 6), 200);
  ASSERT_EQ(h.terms()->size(), 2U);
  EXPECT_TRUE(h.terms()->front().ended);
  EXPECT_FALSE(h.terms()->back().ended);
}

TEST(History, TermUnderAnAcceptedSmallerVersionIsTheNewest) {
  history h("me", 3);
  h.observed(shows({holder("a", 24)}, 24), 100);
  h.observed(shows({}, 25), 200);
  h.observed(shows({holder("b", 7)}, 7), 300);
  h.began(version{9}, 400);
  h.observed(shows({holder("me", 9)}, 9), 401);
  EXPECT_THAT(versions_of(h), ElementsAre(24, 7, 9));
  h.observed(shows({holder("me", 9), holder("b", 10)}, 10), 500);
  EXPECT_THAT(versions_of(h), ElementsAre(7, 9, 10)) << "the oldest is forgotten first";
}

TEST(History, HoldersThatAreSeenAtOnceStandInTheOrderOfTheirGrants) {
  history h("me", 10);
  h.observed(shows({holder("c", 9), holder("a", 5), holder("b", 6)}, 9), 100);
  EXPECT_THAT(versions_of(h), ElementsAre(5, 6, 9));
}

TEST(History, ForgetsTheOldestAndNeverWhatItHasShown) {
  history h("me", 2);
  h.observed(shows({holder("a", 1)}, 1), 1);
  const auto shown = h.terms();
  for (std::uint64_t version = 2; version < 10; ++version) {
    h.observed(shows({holder("a", version)}, version), static_cast<std::int64_t>(version));
  }
  ASSERT_EQ(h.terms()->size(), 2U);
  EXPECT_EQ(h.terms()->front().who.version, version{8});
  EXPECT_EQ(shown->front().who.version, version{1}) << "a reader may still be at it";
}

TEST(History, ManyElectionsKeepFewTermsEach) {
  EXPECT_EQ(terms_kept(1), 128U);
  EXPECT_EQ(terms_kept(1'000), 20U);
  EXPECT_EQ(terms_kept(10'000), 2U);
}

}  // namespace
}  // namespace tenure::runtime
