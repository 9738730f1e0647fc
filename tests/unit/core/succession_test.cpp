// Who comes next, as the list of members shows it.
#include "core/succession.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

core::member says(std::string who, std::int64_t since, std::int32_t priority = 0,
                  std::int64_t started = 1) {
  return {
      .identity = std::move(who),
      .says = readiness{.since_unix_ms = since, .priority = priority, .started_unix_ms = started}};
}

core::member of_earlier_release(std::string who) {
  return {.identity = std::move(who)};
}

observation shows(std::vector<core::member> members, std::vector<holder> holders = {}) {
  observation out{.holders = std::move(holders)};
  out.members = std::move(members);
  return out;
}

holder holds(std::string who) {
  return {.identity = std::move(who), .version = five};
}

/// The order as `me` sees it.
struct order {
  succession it{};
  succession_settings own{};

  order& sees(const observation& what) {
    it.observe(what, "me", own);
    return *this;
  }
  [[nodiscard]] std::string next() const { return it.next() ? it.next()->identity : ""; }
};

TEST(Succession, NobodyComesNextWhereTheStoreListsNobody) {
  order o;
  o.sees({});
  EXPECT_EQ(o.next(), "");
  EXPECT_EQ(o.it.ahead(), 0U);
  o.sees(shows({}));
  EXPECT_EQ(o.next(), "");
}

TEST(Succession, WhoHasBeenReadyLongestComesNext) {
  order o;
  o.sees(shows({says("a", 30), says("b", 10), says("me", 20)}));
  EXPECT_EQ(o.next(), "b");
  EXPECT_EQ(o.it.ahead(), 1U);
}

TEST(Succession, WhoIsNotReadyDoesNotCount) {
  order o;
  o.sees(shows({says("a", 0, 9), says("b", 10), says("me", 0)}));
  EXPECT_EQ(o.next(), "b");
  EXPECT_EQ(o.it.ahead(), 1U);
}

TEST(Succession, APriorityCountsForMoreThanTime) {
  order o;
  o.sees(shows({says("a", 30, 1), says("b", 10, -1), says("me", 20)}));
  EXPECT_EQ(o.next(), "a");
  EXPECT_EQ(o.it.ahead(), 1U) << "a is before us, b behind";
}

TEST(Succession, OfEqualTimesTheSmallerNameComesFirst) {
  order o;
  o.sees(shows({says("z", 10), says("b", 10), says("me", 10)}));
  EXPECT_EQ(o.next(), "b");
  EXPECT_EQ(o.it.ahead(), 1U);
}

TEST(Succession, NewerAgentsComeFirstOnlyIfThatIsWanted) {
  const observation seen = shows(
      {says("a", 10, 0, 100), says("b", 20, 0, 300), says("me", 5, 0, 200), says("c", 30, 1, 1)});
  order longest;
  longest.sees(seen);
  EXPECT_EQ(longest.next(), "c");
  EXPECT_EQ(longest.it.ahead(), 1U);
  order newest{.own = {.prefer_newer = true}};
  newest.sees(seen);
  EXPECT_EQ(newest.next(), "c") << "a priority counts for more";
  EXPECT_EQ(newest.it.ahead(), 2U) << "c and b";
}

TEST(Succession, AHolderIsNotNext) {
  order o;
  o.sees(shows({says("a", 10), says("b", 20)}, {holds("a")}));
  EXPECT_EQ(o.next(), "b");
}

TEST(Succession, WhatAHolderSaidBeforeItsTermDoesNotCountAfterIt) {
  order o;
  o.sees(shows({says("a", 10), says("me", 20)}, {holds("a")}));
  o.sees(shows({says("a", 10), says("me", 20)}));
  EXPECT_EQ(o.next(), "me") << "a may have crashed";
  EXPECT_EQ(o.it.ahead(), 0U);
  o.sees(shows({says("a", 30, 1), says("me", 20)}));
  EXPECT_EQ(o.next(), "a") << "it has said it anew";
}

TEST(Succession, AnEntryThatDisappearsIsForgotten) {
  order o;
  o.sees(shows({says("a", 10), says("me", 20)}, {holds("a")}));
  o.sees(shows({says("me", 20)}));
  o.sees(shows({says("a", 10), says("me", 20)}));
  EXPECT_EQ(o.next(), "a");
}

TEST(Succession, MembersOfEarlierReleasesCountAsReadyForEver) {
  order o;
  o.sees(shows({of_earlier_release("old"), says("b", 10), says("me", 20)}));
  EXPECT_EQ(o.next(), "old");
  EXPECT_EQ(o.it.ahead(), 2U);
  o.own.priority = 1;
  o.sees(shows({of_earlier_release("old"), says("b", 10), says("me", 20, 1)}));
  EXPECT_EQ(o.next(), "me");
}

TEST(Succession, WhoseWordIsNotThereYetComesBehindItsPriority) {
  order o{.own = {.priority = 1}};
  o.sees(shows({says("a", 10, 1), says("b", 10), says("me", 0, 1)}));
  EXPECT_EQ(o.it.ahead(), 1U);
}

TEST(Succession, AnUnlistedMemberComesBehindAllThatAre) {
  order o{.own = {.priority = 9}};
  o.sees(shows({says("a", 10), says("b", 0), says("c", 10)}));
  EXPECT_EQ(o.it.ahead(), 2U);
}

TEST(Succession, TheFirstDoesNotWaitAndTheOthersWaitForLongerAndLonger) {
  const timing when = default_timing();
  EXPECT_EQ(pause_behind(0, when, ~0ULL), 0s);
  for (std::size_t ahead = 1; ahead < 4; ++ahead) {
    EXPECT_LE(pause_behind(ahead, when, 0x7fff'ffff'ffff), pause_behind(ahead + 1, when, 0));
  }
  EXPECT_GE(pause_behind(1, when, 0), 100ms) << "the grant to the first is seen before";
  EXPECT_LE(pause_behind(1'000'000, when, ~0ULL), 2s);
}

TEST(Succession, WithAShortTtlThePausesAreShort) {
  const timing when = *resolve({.ttl = 1s});
  EXPECT_LE(pause_behind(1, when, ~0ULL), 100ms);
  EXPECT_LE(pause_behind(1'000, when, ~0ULL), 1s);
}

}  // namespace
}  // namespace tenure::core::testing
