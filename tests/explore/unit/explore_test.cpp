// What the search relies on: that two states that differ only in what does not matter are one, that
// two that differ otherwise are two, and that it looks at all of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "search.hpp"
#include "small_world.hpp"

namespace tenure::explore {
namespace {

using testing::Contains;
using testing::Not;

constexpr std::uint8_t many = 200;

world with_faults(std::uint8_t faults) {
  world out;
  out.faults_left = faults;
  out.ticks_left = many;
  return out;
}

std::vector<move> moves_of(const world& w) {
  std::vector<move> out;
  w.moves(out);
  return out;
}

/// All that is due, member 0 before member 1, or the other way round; and then ticks.
void go_on(world& w, int ticks, std::uint8_t first = 0) {
  while (ticks > 0) {
    std::vector<move> all = moves_of(w);
    std::erase_if(all, [](const move& m) { return m.is_fault() || m.what == act::expire; });
    const auto later = [&](const move& m) {
      return m.what == act::pass ? 2 : m.member == first ? 0 : 1;
    };
    const move next = *std::ranges::min_element(all, {}, later);
    if (next.what == act::pass) --ticks;
    w.apply(next);
  }
}

TEST(ExploredWorld, WhichMemberIsWhichDoesNotMatter) {
  world a = with_faults(0);
  world b = with_faults(0);
  go_on(a, 1, 0);
  go_on(b, 1, 1);
  ASSERT_TRUE(a.all[0].runs);
  ASSERT_TRUE(b.all[1].runs);
  EXPECT_EQ(a.digest(), b.digest());
}

TEST(ExploredWorld, WhatTimeItIsAndHowFarVersionsHaveComeDoesNotMatter) {
  world w = with_faults(0);
  go_on(w, 2);
  const std::uint64_t before = w.digest();
  go_on(w, 7);
  EXPECT_EQ(w.digest(), before);
  ++w.revision;
  EXPECT_NE(w.digest(), before) << "a version that nobody has seen yet";
}

/// All that may come of a state in so many moves.
std::uint64_t future(const world& w, int moves) {
  constexpr std::uint64_t mix = 0x9e37'79b9'7f4a'7c15;
  std::uint64_t out = (w.digest() + w.faults_left) * mix + static_cast<std::uint64_t>(w.broken);
  if (moves == 0) return out * mix;
  std::uint64_t next = 0;  // independent of their order
  for (const move& m : moves_of(w)) {
    world other = w;
    other.apply(m);
    const std::uint64_t one = future(other, moves - 1);
    next += one * (one | 1U);
  }
  return (out ^ next) * mix;
}

/// A digest that leaves out what matters would make the search take two states for one, and look at
/// what may come of the first alone.
TEST(ExploredWorld, WhatHasTheSameDigestHasTheSameFuture) {
  std::unordered_map<std::uint64_t, world> known;
  std::deque<world> next{with_faults(1)};
  std::size_t compared = 0;
  while (!next.empty()) {
    const world one = std::move(next.front());
    next.pop_front();
    for (const move& m : moves_of(one)) {
      world other = one;
      other.apply(m);
      other.ticks_left = many;
      const auto [at, is_new] = known.try_emplace(other.digest() * 2 + other.faults_left, other);
      if (is_new) {
        next.push_back(std::move(other));
      } else if (++compared % 8 == 0) {
        ASSERT_EQ(future(other, 3), future(at->second, 3)) << "after: " << one.text(m);
      }
    }
  }
  EXPECT_GT(compared, 50'000U);
}

TEST(ExploredWorld, EachFaultMakesAnotherState) {
  world w = with_faults(1);
  go_on(w, 2);
  const std::uint64_t before = w.digest();
  std::size_t faults = 0;
  for (const move& m : moves_of(w)) {
    if (!m.is_fault()) continue;
    world other = w;
    other.apply(m);
    EXPECT_NE(other.digest(), before) << w.text(m);
    EXPECT_EQ(other.faults_left, 0);
    ++faults;
  }
  EXPECT_GT(faults, 10U);
}

TEST(ExploredWorld, NothingThatIsDueIsPassedOver) {
  world w = with_faults(1);
  EXPECT_THAT(moves_of(w), Not(Contains(move{.what = act::pass}))) << "watches are to be opened";
  go_on(w, 1);
  w.apply({.what = act::freeze, .member = 0});
  w.apply({.what = act::freeze, .member = 1});
  EXPECT_THAT(moves_of(w), Contains(move{.what = act::pass})) << "who is stopped may be late";
}

TEST(ExploredWorld, AGuardIsInTimeWhateverHasBecomeOfItsAgent) {
  world w = with_faults(1);
  go_on(w, 1);
  ASSERT_TRUE(w.all[0].runs);
  w.apply({.what = act::freeze, .member = 0});
  for (int ticks = 0; ticks < 4; ++ticks) w.apply({.what = act::pass});
  EXPECT_FALSE(w.all[0].runs);
  EXPECT_LE(w.now, w.ends_at) << "before the store can give the lease to anybody else";
  EXPECT_EQ(w.broken, rule::none);
}

TEST(ExploredWorld, ARuleThatIsBrokenIsNamed) {
  world w = with_faults(0);
  go_on(w, 1);
  ASSERT_TRUE(w.all[0].runs);
  EXPECT_EQ(w.broken, rule::none);
  // As if it had been told less than what it acts on.
  w.all[0].known.may_stop_at = w.now;
  w.apply({.what = act::pass});
  EXPECT_EQ(w.broken, rule::claim_beyond_lease);
}

TEST(Search, EndsWhenThereAreNoOtherStates) {
  const findings few = search({.ticks = 50, .faults = 0});
  EXPECT_TRUE(few.complete);
  EXPECT_EQ(few.broken, rule::none);
  const findings later = search({.ticks = many, .faults = 0});
  EXPECT_EQ(later.states, few.states) << "without a fault nothing new comes";
  const findings more = search({.ticks = 10, .faults = 1, .kinds = bit(act::stall)});
  EXPECT_TRUE(more.complete);
  EXPECT_GT(more.states, few.states);
}

TEST(Search, FindsTheSameStatesHoweverManyLookForThem) {
  const bounds alone{.ticks = 20, .faults = 1, .kinds = bit(act::crash), .jobs = 1};
  bounds together = alone;
  together.jobs = 4;
  EXPECT_EQ(search(alone).states, search(together).states);
}

TEST(Search, StopsWhereItWasTold) {
  const findings found = search({.ticks = 20, .faults = 1, .states = 1000});
  EXPECT_FALSE(found.complete);
  EXPECT_GE(found.states, 1000U);
  EXPECT_LT(found.states, 1100U);
}

}  // namespace
}  // namespace tenure::explore
