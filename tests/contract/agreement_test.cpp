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

  a->release(0, g.term);
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
  EXPECT_EQ(next->hold().term, g.term);
}

}  // namespace
}  // namespace tenure::tests
