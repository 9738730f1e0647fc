// How many may hold at a time is a matter of the election, not of each member.

#include <gmock/gmock.h>

#include "store_under_test.hpp"

namespace tenure::tests {
namespace {

using stores::grant;
using stores::refusal;

TEST_P(StoreContract, MemberWithOtherSlotsIsRefusedAndShownTheNumber) {
  auto a = join(settings("a"));
  auto b = join(settings("b", std::chrono::seconds(10), 2));
  const grant g = a->hold();
  const auto outcome = b->acquire();
  ASSERT_TRUE(std::holds_alternative<refusal>(outcome)) << "there is room by its own number";
  EXPECT_EQ(std::get<refusal>(outcome).seen.agreed.slots, 1u);
  EXPECT_EQ(b->read().agreed.slots, 1u);

  a->release(0, g.version);
  EXPECT_TRUE(std::holds_alternative<refusal>(b->acquire())) << "nor when the lease is free";
  b->close();
  b = join(settings("b"));
  b->hold();
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

TEST_P(StoreContract, SlotsAreChangedInTheStoreForAllWhoSeeIt) {
  auto a = join(settings("a"));
  auto b = join(settings("b", std::chrono::seconds(10), 2));
  const grant first = a->hold();
  const auto seen = b->watch();
  const auto said = a->agree({.slots = 2});
  ASSERT_TRUE(std::holds_alternative<core::agreement>(said));
  EXPECT_EQ(std::get<core::agreement>(said).slots, 2U);
  ASSERT_TRUE(loop_.run_until(
      [&] { return seen->shows([](const core::observation& o) { return o.agreed.slots == 2; }); }));
  const grant second = b->hold();
  EXPECT_GT(second.version, first.version);
  EXPECT_EQ(second.slot, 1U);
  EXPECT_EQ(a->read().holders.size(), 2U);
  const auto renewed = a->renew(only(first.version));
  ASSERT_TRUE(std::holds_alternative<stores::renewal>(renewed));
  EXPECT_TRUE(std::get<stores::renewal>(renewed).lost.empty()) << "whoever holds, holds";
}

TEST_P(StoreContract, SlotsAreNotFewerThanAreHeld) {
  auto a = join(settings("a", std::chrono::seconds(10), 2));
  auto b = join(settings("b", std::chrono::seconds(10), 2));
  const grant first = a->hold();
  b->hold();
  const auto refused = a->agree({.slots = 1});
  ASSERT_TRUE(std::holds_alternative<stores::not_agreed>(refused));
  EXPECT_THAT(std::get<stores::not_agreed>(refused).why, testing::HasSubstr("2 hold"));
  EXPECT_EQ(a->read().agreed.slots, 2U);
  a->release(0, first.version);
  ASSERT_TRUE(std::holds_alternative<core::agreement>(b->agree({.slots = 1})));
  EXPECT_TRUE(std::holds_alternative<refusal>(a->acquire()));
}

}  // namespace
}  // namespace tenure::tests
