// How many may hold at a time is a matter of the election, not of each member.

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/boot_time.hpp"
#include "store_under_test.hpp"

namespace tenure::tests {
namespace {

using stores::grant;
using stores::refusal;

TEST_P(StoreContract, MemberWithOtherSlotsIsRefusedWhileSomebodyHolds) {
  auto a = join(settings("a"));
  auto b = join(settings("b", std::chrono::seconds(10), 2));
  const grant g = a->hold();
  const auto outcome = b->acquire();
  ASSERT_TRUE(std::holds_alternative<refusal>(outcome)) << "there is room by its own number";
  EXPECT_EQ(std::get<refusal>(outcome).seen.agreed.slots, 1u);
  EXPECT_EQ(b->read().agreed.slots, 1u);

  a->release(0, g.version);
  EXPECT_EQ(b->read().agreed.slots, 1u) << "until somebody holds again";
  EXPECT_GT(b->hold().version, g.version);
  EXPECT_EQ(a->read().agreed.slots, 2u);
  EXPECT_TRUE(std::holds_alternative<refusal>(a->acquire())) << "now it is the one that differs";
}

/// From one number to the next: all that may hold do, and no more.
TEST_P(StoreContract, NumberOfSlotsIsThatOfTheFirstToHold) {
  for (const std::uint32_t slots : {1U, 3U, 2U, 1U, 2U}) {
    std::vector<std::unique_ptr<member>> all;
    std::vector<grant> terms;
    for (std::uint32_t i = 0; i <= slots; ++i) {
      all.push_back(join(settings("m" + std::to_string(i), std::chrono::seconds(10), slots)));
    }
    const auto seen = all.back()->watch();
    for (std::uint32_t i = 0; i < slots; ++i) {
      terms.push_back(all[i]->hold());
      EXPECT_EQ(terms.back().slot, i) << "of " << slots;
    }
    EXPECT_TRUE(std::holds_alternative<refusal>(all.back()->acquire())) << "of " << slots;
    EXPECT_TRUE(loop_.run_until([&] {
      return seen->shows([&](const core::observation& o) {
        return o.agreed.slots == slots && o.holders.size() == slots;
      });
    })) << "of "
        << slots;
    for (std::uint32_t i = 0; i < slots; ++i) all[i]->release(0, terms[i].version);
    for (const auto& one : all) one->close();
  }
}

/// Each sees that nobody holds. Whoever comes second finds the other's number.
TEST_P(StoreContract, OfTwoNumbersAtATimeOneCounts) {
  auto a = join(settings("a"));
  auto b = join(settings("b", std::chrono::seconds(10), 2));
  const auto of_a = a->watch();
  const auto of_b = b->watch();
  for (int i = 0; i < 20; ++i) {
    const auto is_free = [](const core::observation& o) { return o.holders.empty(); };
    ASSERT_TRUE(loop_.run_until([&] { return of_a->shows(is_free) && of_b->shows(is_free); }));
    std::optional<stores::acquire_outcome> first;
    std::optional<stores::acquire_outcome> second;
    const auto ask = [](member& who, std::optional<stores::acquire_outcome>& came) {
      who->acquire(core::election_index{0}, core::no_version, base::boot_now() + patience,
                   [&came](stores::acquire_outcome what) { came = std::move(what); });
    };
    ask(*a, first);
    ask(*b, second);
    ASSERT_TRUE(loop_.run_until([&] { return first && second; }));
    const auto* const one = std::get_if<grant>(&*first);
    const auto* const other = std::get_if<grant>(&*second);
    EXPECT_NE(one == nullptr, other == nullptr) << i;
    EXPECT_EQ(a->read().agreed.slots, one != nullptr ? 1U : 2U) << i;
    if (one != nullptr) a->release(0, one->version);
    if (other != nullptr) b->release(0, other->version);
  }
}

/// Nobody waits for one that has ended, and each doubt is waited for.
TEST_P(StoreContract, NumberOfSlotsAlsoFollowsAMemberThatHasCrashed) {
  const auto ttl = store_->shortest_ttl();
  auto a = join(settings("a", ttl, 2));
  auto b = join(settings("b", ttl, 2));
  a->hold();
  b->hold();
  a->close();
  b->close();
  auto c = join(settings("c", ttl));
  const auto seen = c->watch();
  ASSERT_TRUE(loop_.run_until(
      [&] { return seen->shows([](const core::observation& o) { return o.holders.empty(); }); }));
  const grant g = c->hold();
  EXPECT_FALSE(g.released_cleanly);
  EXPECT_EQ(c->read().agreed.slots, 1U);
}

TEST_P(StoreContract, TermThatIsHeldIsExtendedWhateverTheSlots) {
  auto a = join(settings("a"));
  const grant g = a->hold();
  a->close();
  // As an agent does that follows another under one guard, with new settings.
  auto next = join(settings("a", std::chrono::seconds(10), 2));
  const auto watched = next->watch();
  ASSERT_TRUE(loop_.run_until([&] { return !watched->seen.empty(); }));
  EXPECT_EQ(next->hold().version, g.version);
}

/// An agent that follows another finds its term first, although another slot is free.
TEST_P(StoreContract, TermThatIsHeldIsExtendedBesideAFreeSlot) {
  auto a = join(settings("a", std::chrono::seconds(10), 2));
  const grant g = a->hold();
  a->close();
  for (const bool watches : {false, true}) {
    auto next = join(settings("a", std::chrono::seconds(10), 2));
    const auto watched = next->watch();
    if (watches) ASSERT_TRUE(loop_.run_until([&] { return !watched->seen.empty(); }));
    EXPECT_EQ(next->hold().version, g.version) << watches;
    EXPECT_EQ(next->read().holders.size(), 1U) << watches;
    next->close();
  }
}

}  // namespace
}  // namespace tenure::tests
