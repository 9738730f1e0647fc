#include "core/member_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::core::testing {
namespace {

using ::testing::ElementsAre;

member says(std::string who, std::int64_t since, std::int64_t started = 1) {
  return {.identity = std::move(who),
          .says = readiness{.since_unix_ms = since, .started_unix_ms = started}};
}

TEST(MemberList, IsInTheOrderOfIdentities) {
  const member_list all{{says("c", 1), says("a", 3), says("b", 2)}};
  EXPECT_THAT(all, ElementsAre(says("a", 3), says("b", 2), says("c", 1)));
}

TEST(MemberList, OfTwoRunsWithOneNameTheNewerCounts) {
  const member_list all{{says("a", 10, 1), says("a", 0, 2), says("b", 5)}};
  EXPECT_THAT(all, ElementsAre(says("a", 0, 2), says("b", 5)));
}

TEST(MemberList, FindsAMemberByItsIdentity) {
  const member_list all{{says("a", 1), says("c", 2), says("e", 3)}};
  for (const char* who : {"a", "c", "e"}) {
    ASSERT_NE(all.find(who), nullptr) << who;
    EXPECT_EQ(all.find(who)->identity, who);
  }
  for (const char* who : {"", "b", "d", "f"}) EXPECT_EQ(all.find(who), nullptr) << who;
}

TEST(MemberList, AnEmptyOneHasNobody) {
  const member_list none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.find("a"), nullptr);
  EXPECT_EQ(none, member_list(std::vector<member>{}));
}

TEST(MemberList, IsWhatItsMembersAre) {
  const member_list one{{says("a", 1)}};
  member_list copy;
  copy = one;
  EXPECT_EQ(one, copy);
  EXPECT_EQ(&*one.begin(), &*copy.begin()) << "copies share the members";
  EXPECT_EQ(one, member_list({says("a", 1)}));
  EXPECT_NE(one, member_list({says("a", 2)}));
  EXPECT_NE(one, member_list({says("a", 1), says("b", 1)}));
}

}  // namespace
}  // namespace tenure::core::testing
