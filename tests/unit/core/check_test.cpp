// Programmer errors end the process, in release builds too.
#include "core/check.hpp"

#include <gtest/gtest.h>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

TEST(CheckDeathTest, FailedCheckNamesTheConditionAndThePlace) {
  EXPECT_DEATH(TENURE_CHECK(1 + 1 == 3), "check failed: 1 \\+ 1 == 3 .*check_test.cpp:");
}

TEST(Check, LooksOnce) {
  int looks = 0;
  TENURE_CHECK(++looks == 1);
  EXPECT_EQ(looks, 1);
}

TEST(CheckDeathTest, TimeThatGoesBackwardsIsAProgrammerError) {
  conversation c;
  c.at(1s).starts();
  EXPECT_DEATH(c.at(1s - 1ns).wakes(), "check failed: at.now >= last_now_");
}

TEST(CheckDeathTest, ElectionWithoutSlotsIsAProgrammerError) {
  EXPECT_DEATH(conversation(with(member(), [](auto& s) { s.slots = 0; })), "slots");
}

TEST(CheckDeathTest, MemberWithoutAnIdentityIsAProgrammerError) {
  EXPECT_DEATH(conversation(member("")), "identity");
}

TEST(CheckDeathTest, EffectsHaveALimit) {
  effects full;
  for (std::size_t i = 0; i < effects::capacity; ++i) full.add(command::publish{});
  EXPECT_EQ(full.size(), effects::capacity);
  EXPECT_DEATH(full.add(command::publish{}), "capacity");
}

}  // namespace
}  // namespace tenure::core::testing
