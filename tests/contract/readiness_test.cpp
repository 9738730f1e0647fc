// What members say of themselves in the list of members.

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "store_under_test.hpp"
#include "support/member_names.hpp"

namespace tenure::tests {
namespace {

constexpr core::readiness ready{
    .since_unix_ms = 1'769'860'800'123, .priority = -7, .started_unix_ms = 1'769'860'700'000};
constexpr core::readiness aside{.priority = -7, .started_unix_ms = 1'769'860'700'000};
constexpr core::election_index first{0};

/// True of an observation in which that member says this.
auto says(std::string who, core::readiness what) {
  return [who = std::move(who), what](const core::observation& seen) {
    if (!seen.members) return false;
    const auto it = std::ranges::find(*seen.members, who, &core::member::identity);
    return it != seen.members->end() && it->says == what;
  };
}

TEST_P(StoreContract, AMemberSaysThatItIsNotReadyUntilItSaysOtherwise) {
  auto a = join(announced(settings("a")));
  auto b = join(announced(settings("b")));
  const auto watched = b->watch();
  EXPECT_TRUE(loop_.run_until([&] { return watched->shows(says("a", {})); }));
}

TEST_P(StoreContract, WhatAMemberSaysIsShownToAllThatWatch) {
  auto a = join(announced(settings("a")));
  auto b = join(announced(settings("b")));
  const auto by_a = a->watch();
  const auto by_b = b->watch();
  (*a)->announce(first, ready);
  EXPECT_TRUE(loop_.run_until([&] { return by_a->shows(says("a", ready)); }));
  EXPECT_TRUE(loop_.run_until([&] { return by_b->shows(says("a", ready)); }));
  (*a)->announce(first, aside);
  EXPECT_TRUE(loop_.run_until([&] { return by_a->shows(says("a", aside)); }));
  EXPECT_TRUE(loop_.run_until([&] { return by_b->shows(says("a", aside)); }));
  (*a)->announce(first, ready);
  (*a)->announce(first, aside);
  (*a)->announce(first, ready);
  EXPECT_TRUE(loop_.run_until([&] { return by_b->shows(says("a", ready)); }))
      << "the last word counts, however fast they follow each other";
  EXPECT_THAT(by_b->broken, testing::IsEmpty());
}

TEST_P(StoreContract, WhatIsSaidOfOneElectionIsNotSaidOfAnother) {
  auto a = join(announced(settings("a", std::chrono::seconds(10), 1, 2)));
  const auto one = a->watch(0);
  const auto two = a->watch(1);
  (*a)->announce(core::election_index{1}, ready);
  EXPECT_TRUE(loop_.run_until([&] { return one->shows(says("a", {})); }));
  EXPECT_TRUE(loop_.run_until([&] { return two->shows(says("a", ready)); }));
}

TEST_P(StoreContract, WhatIsSaidStaysThroughATermAndEndsWithTheName) {
  auto a = join(announced(settings("a")));
  auto b = join(announced(settings("b")));
  const auto watched = b->watch();
  (*a)->announce(first, ready);
  const stores::grant g = a->hold();
  ASSERT_TRUE(loop_.run_until([&] {
    return watched->shows([&](const core::observation& seen) {
      return seen.holders.size() == 1 && says("a", ready)(seen);
    });
  }));
  a->release(g.version, {.clean = true});
  a->leave();
  EXPECT_TRUE(loop_.run_until([&] {
    return watched->shows([](const core::observation& seen) {
      return member_names(seen) == std::vector<std::string>{"b"};
    });
  }));
}

TEST_P(StoreContract, AMemberThatIsNotListedSaysNothing) {
  auto a = join(announced(settings("a")));
  auto quiet = join(settings("quiet"));
  const auto watched = a->watch();
  (*quiet)->announce(first, ready);
  (*a)->announce(first, ready);
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(says("a", ready)); }));
  EXPECT_EQ(member_names(watched->seen.back()), std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace tenure::tests
