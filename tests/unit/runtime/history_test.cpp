#include "runtime/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace tenure::runtime {
namespace {

using api::past_term;
using core::loss_reason;
using core::version;
using testing::ElementsAre;
using namespace std::chrono_literals;

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

/// A history whose clocks show the same milliseconds.
class teller {
 public:
  explicit teller(std::size_t most, std::uint32_t slots = 1)
      : of_({.identity = "me",
             .most = most,
             .slots = slots,
             .ttl = 15s,
             .expiry_lag = 500ms,
             .lock_delay = 1s}) {}

  bool observed(const core::observation& seen, std::int64_t ms) {
    return of_.observed(seen, at(ms));
  }
  void began(core::version version, std::int64_t ms, bool cleanly = true) {
    of_.began(version, cleanly, at(ms));
  }
  std::optional<api::outage> active(std::int64_t ms) { return of_.active(at(ms)); }
  void ending(loss_reason why, std::int64_t renewed_ms) { of_.ending(why, at(renewed_ms).now); }
  void not_released() { of_.not_released(); }
  void ended(std::int64_t ms) { of_.ended(at(ms)); }
  [[nodiscard]] const auto& terms() const { return of_.terms(); }
  /// Of the term of this version.
  [[nodiscard]] past_term term(std::uint64_t version) const {
    const auto found = std::ranges::find(*of_.terms(), core::version{version},
                                         [](const past_term& one) { return one.who.version; });
    return found == of_.terms()->end() ? past_term() : *found;
  }

  static api::instant at(std::int64_t ms) {
    return {.now = core::time_point(1h + std::chrono::milliseconds(ms)), .unix_ms = ms};
  }

 private:
  history of_;
};

core::observation expiring(core::observation seen, std::int64_t ms) {
  seen.expires_at = teller::at(ms).now;
  return seen;
}

std::vector<std::uint64_t> versions_of(const teller& of) {
  std::vector<std::uint64_t> out;
  for (const past_term& one : *of.terms()) out.push_back(core::number(one.who.version));
  return out;
}

TEST(History, OfTheOneWhoHeldAtTheStartTheBeginningIsNotKnown) {
  teller h(10);
  EXPECT_TRUE(h.observed(shows({holder("a", 5)}, 5), 100));
  EXPECT_THAT(*h.terms(), ElementsAre(past_term{.who = holder("a", 5)}));
  EXPECT_FALSE(h.observed(shows({holder("a", 5)}, 5), 200)) << "nothing new";
}

TEST(History, TheReasonThatAHolderGivesForItsReleaseIsQuoted) {
  teller h(10);
  h.observed(shows({}, 4), 100);
  h.observed(shows({holder("a", 5)}, 5), 200);
  h.observed(with_release(shows({holder("b", 6)}, 6),
                          {.version = version{5}, .holder = "a", .why = loss_reason::unhealthy}),
             300);
  EXPECT_THAT(*h.terms(), ElementsAre(past_term{.who = holder("a", 5),
                                                .ended = true,
                                                .from_unix_ms = 200,
                                                .to_unix_ms = 300,
                                                .reason = "unhealthy",
                                                .outage_after = api::outage{300, 0}},
                                      past_term{.who = holder("b", 6), .from_unix_ms = 300}));
}

TEST(History, AHolderWhoVanishesHasLetItsLeaseExpire) {
  teller h(10);
  h.observed(shows({}, 4), 100);
  h.observed(shows({holder("a", 5)}, 5), 200);
  h.observed(with_release(shows({}, 5), {.version = version{3}, .holder = "z"}), 300);
  EXPECT_EQ(h.terms()->back().reason, "expired") << "the release is of another term";
}

TEST(History, WhatTheWatchHasNotComeToYetEndsNothing) {
  teller h(10);
  h.observed(shows({holder("a", 5)}, 5), 100);
  EXPECT_FALSE(h.observed(shows({}, 4), 200));
  EXPECT_FALSE(h.terms()->back().ended);
}

TEST(History, OurOwnTermEndsWhenItIsDrained) {
  teller h(10);
  h.observed(shows({}, 4), 100);
  h.began(version{5}, 200);
  h.observed(shows({holder("me", 5)}, 5), 201);
  h.ending(loss_reason::resigned, 250);
  h.observed(with_release(shows({}, 6), {.version = version{5}, .holder = "me"}), 300);
  EXPECT_FALSE(h.terms()->front().ended) << "its workload is not known to be dead";
  h.ended(400);
  EXPECT_THAT(h.terms()->front(), (past_term{.who = holder("me", 5),
                                             .is_self = true,
                                             .ended = true,
                                             .from_unix_ms = 200,
                                             .to_unix_ms = 400,
                                             .reason = "resigned",
                                             .outage_after = api::outage{.from_unix_ms = 400}}));
}

TEST(History, AllAgentsGiveOneReasonForATermThatLeftNoRecord) {
  teller mine(10);
  mine.began(version{5}, 200);
  mine.observed(shows({holder("me", 5)}, 5), 201);
  mine.ending(loss_reason::renew_timeout, 10'000);
  mine.observed(shows({holder("b", 6)}, 6), 25'000);
  mine.ended(25'001);
  teller other(10);
  other.observed(shows({holder("me", 5)}, 5), 201);
  other.observed(shows({holder("b", 6)}, 6), 25'000);
  EXPECT_EQ(mine.term(5).reason, "expired");
  EXPECT_EQ(other.term(5).reason, "expired");

  teller silenced(10);
  silenced.began(version{5}, 200);
  silenced.ending(loss_reason::resigned, 10'000);
  silenced.not_released();
  silenced.ended(10'500);
  EXPECT_EQ(silenced.term(5).reason, "expired") << "nobody else can know that it resigned";
}

TEST(History, RecordThatComesLaterIsTheReason) {
  const core::release_record said{
      .version = version{5}, .holder = "a", .why = loss_reason::resigned};
  teller h(10);
  h.observed(shows({holder("a", 5)}, 5), 100);
  h.observed(shows({holder("b", 6)}, 6), 20'000);
  EXPECT_EQ(h.term(5).reason, "expired");
  EXPECT_TRUE(h.observed(with_release(shows({holder("b", 6)}, 6), said), 20'001));
  EXPECT_EQ(h.term(5).reason, "resigned");
  EXPECT_EQ(h.term(5).outage_after, (api::outage{20'000, 0})) << "and it was no crash";
  EXPECT_FALSE(h.observed(with_release(shows({holder("b", 6)}, 6), said), 20'002));

  teller mine(10);
  mine.began(version{5}, 200);
  mine.ending(loss_reason::session_invalid, 300);
  mine.ended(400);
  mine.observed(
      with_release(shows({}, 6),
                   {.version = version{5}, .holder = "me", .why = loss_reason::session_invalid}),
      500);
  EXPECT_EQ(mine.term(5).reason, "session_invalid");
  EXPECT_EQ(mine.term(5).outage_after, (api::outage{300, std::nullopt, true}))
      << "it was lost before it was released";
}

// --- how long no member was active -----------------------------------------------------------

TEST(History, OutageOfACrashCountsFromTheLastRenewalThatTheStoreShows) {
  teller h(10);
  h.observed(expiring(shows({holder("a", 5)}, 5), 15'000), 0);
  h.observed(expiring(shows({holder("a", 5)}, 5), 20'000), 5'000);
  h.observed(shows({}, 5), 20'000);
  EXPECT_EQ(h.term(5).outage_after, (api::outage{.from_unix_ms = 5'000, .at_most = true}))
      << "it lasts";
  h.began(version{6}, 20'100, false);
  EXPECT_FALSE(h.term(5).outage_after->lasted_ms) << "this member waits for lock_delay";
  EXPECT_EQ(h.active(21'100), (api::outage{5'000, 16'100, true}));
  EXPECT_EQ(h.term(5).outage_after, (api::outage{5'000, 16'100, true}));
}

TEST(History, AnotherAgentSeesTheSameOutage) {
  teller h(10);
  h.observed(expiring(shows({holder("a", 5)}, 5), 15'000), 0);
  h.observed(expiring(shows({holder("a", 5)}, 5), 20'000), 5'000);
  h.observed(shows({}, 5), 20'000);
  h.observed(expiring(shows({holder("b", 6)}, 6), 35'100), 20'100);
  EXPECT_EQ(h.term(5).outage_after, (api::outage{5'000, 16'100, true})) << "b waits for lock_delay";
}

TEST(History, StoreThatShowsNoRenewalsNoticesACrashAtTheLatestAfterTtlAndLag) {
  teller h(10);
  h.observed(shows({holder("a", 5)}, 5), 0);
  h.observed(shows({}, 5), 60'000);
  h.began(version{6}, 60'100, false);
  EXPECT_EQ(h.active(61'100), (api::outage{44'500, 16'600, true}));
}

TEST(History, LeaseThatIsTakenAtItsExpiryEndsBeforeTheWatchShowsIt) {
  teller h(10);
  h.observed(expiring(shows({holder("a", 5)}, 5), 15'000), 0);
  h.began(version{6}, 15'000, false);
  EXPECT_EQ(h.active(16'000),
            (api::outage{.from_unix_ms = 0, .lasted_ms = 16'000, .at_most = true}));
  h.observed(shows({holder("me", 6)}, 6), 16'001);
  EXPECT_EQ(h.term(5).reason, "expired");
  EXPECT_EQ(h.term(5).outage_after->lasted_ms, 16'000);
}

TEST(History, LeaseThatIsPassedOnIsNoOutageBeforeItsRecordComes) {
  teller h(10);
  h.observed(shows({holder("a", 5)}, 5), 0);
  h.began(version{6}, 60'000, true);
  EXPECT_EQ(h.active(60'002), (api::outage{60'000, 2}));
  EXPECT_TRUE(
      h.observed(with_release(shows({holder("me", 6)}, 6),
                              {.version = version{5}, .holder = "a", .why = loss_reason::shutdown}),
                 60'010));
  EXPECT_EQ(h.term(5).reason, "shutdown");
  EXPECT_EQ(h.term(5).outage_after, (api::outage{60'000, 2}));
}

TEST(History, AReleaseEndsTheActiveTimeAtTheMomentOfTheRelease) {
  teller h(10);
  h.observed(shows({holder("a", 5)}, 5), 0);
  h.observed(with_release(shows({}, 6), {.version = version{5}, .holder = "a"}), 1'000);
  h.began(version{6}, 3'990);
  EXPECT_EQ(h.active(4'000), (api::outage{1'000, 3'000}));
}

TEST(History, OurOwnLostTermIsMeasuredAsOthersMeasureIt) {
  teller h(10);
  h.began(version{5}, 0);
  h.active(0);
  h.ending(loss_reason::renew_timeout, 10'000);
  h.observed(shows({holder("b", 6)}, 6), 25'000);
  h.ended(25'500);
  EXPECT_EQ(h.term(5).outage_after, (api::outage{10'000, 16'000, true}));
}

TEST(History, WithSeveralSlotsOneThatIsLeftIsNoOutage) {
  teller h(10, 2);
  h.observed(shows({holder("a", 5), holder("b", 6)}, 6), 0);
  h.observed(shows({holder("b", 6)}, 6), 1'000);
  EXPECT_FALSE(h.term(5).outage_after);
  h.observed(shows({}, 6), 30'000);
  h.observed(shows({holder("c", 7)}, 7), 30'100);
  EXPECT_TRUE(h.term(6).outage_after);
  EXPECT_FALSE(h.term(5).outage_after);
}

TEST(History, FirstHolderEndsNoOutage) {
  teller h(10);
  h.observed(shows({}, 0), 0);
  h.began(version{1}, 10);
  EXPECT_FALSE(h.active(10));
}

TEST(History, AnAgentThatComesLaterIsToldOfTheLastRelease) {
  teller h(10);
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
  teller h(10);
  h.observed(shows({holder("a", 5), holder("b", 6)}, 6), 100);
  h.observed(shows({holder("b", 6)}, 6), 200);
  ASSERT_EQ(h.terms()->size(), 2U);
  EXPECT_TRUE(h.terms()->front().ended);
  EXPECT_FALSE(h.terms()->back().ended);
}

TEST(History, TermUnderAnAcceptedSmallerVersionIsTheNewest) {
  teller h(3);
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
  teller h(10);
  h.observed(shows({holder("c", 9), holder("a", 5), holder("b", 6)}, 9), 100);
  EXPECT_THAT(versions_of(h), ElementsAre(5, 6, 9));
}

TEST(History, ForgetsTheOldestAndNeverWhatItHasShown) {
  teller h(2);
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
