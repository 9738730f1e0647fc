// Others may have written anything into the store. What an agent makes of it can be shown anywhere.

#include <gmock/gmock.h>

#include "store_under_test.hpp"
#include "support/member_names.hpp"

namespace tenure::tests {
namespace {

using testing::ElementsAre;

constexpr const char* raw_name =
    "\xff\xfe"
    "d\u00e9\x1b[2J\u202e";
constexpr const char* shown_name = "\ufffd\ufffdd\u00e9\ufffd[2J\ufffd";

TEST_P(StoreContract, NamesOfOthersCanBePrinted) {
  stores::setup with = settings(raw_name);
  with.announce = true;
  auto a = join(with);
  auto b = join(settings("b"));
  const auto watched = b->watch();
  const stores::grant g = a->hold();
  const auto shows_a = [](const core::observation& seen) {
    return seen.holders.size() == 1 && seen.members;
  };
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(shows_a); }));
  EXPECT_THAT(watched->seen.back().holders, ElementsAre(other(shown_name, g.version)));
  EXPECT_THAT(*member_names(watched->seen.back()), ElementsAre(shown_name));
  EXPECT_THAT(b->read().holders, ElementsAre(other(shown_name, g.version)));
  const auto refused = b->acquire();
  ASSERT_TRUE(std::holds_alternative<stores::refusal>(refused));
  EXPECT_THAT(std::get<stores::refusal>(refused).seen.holders,
              ElementsAre(other(shown_name, g.version)));
}

TEST_P(StoreContract, WhatOthersSaidWhenTheyReleasedCanBePrinted) {
  auto a = join(settings(raw_name));
  a->release(a->hold().version, {.clean = true, .heir = raw_name, .at_unix_ms = 1});
  const auto said = a->read().last_release;
  ASSERT_TRUE(said);
  EXPECT_EQ(said->holder, shown_name);
  EXPECT_EQ(said->heir, shown_name);
}

TEST_P(StoreContract, ATimeThatNoReleaseCanHaveHadIsNotShown) {
  constexpr std::int64_t in_the_year_minus_6911 = -280'000'000'000'000;
  constexpr std::int64_t in_the_year_10000 = 253'402'300'800'000;
  auto a = join(settings("a"));
  for (const std::int64_t at : {in_the_year_minus_6911, in_the_year_10000}) {
    a->release(a->hold().version, {.clean = true, .at_unix_ms = at});
    const auto said = a->read().last_release;
    ASSERT_TRUE(said);
    EXPECT_EQ(said->at_unix_ms, 0) << at;
  }
  a->release(a->hold().version, {.clean = true, .at_unix_ms = in_the_year_10000 - 1});
  EXPECT_EQ(a->read().last_release->at_unix_ms, in_the_year_10000 - 1);
}

}  // namespace
}  // namespace tenure::tests
