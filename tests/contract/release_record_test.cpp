// What a holder leaves behind for people and for its heir, and who takes part.

#include <gmock/gmock.h>

#include "store_under_test.hpp"
#include "support/member_names.hpp"

namespace tenure::tests {
namespace {

using stores::grant;
using testing::ElementsAre;

const auto held = [](const core::observation& seen) { return seen.holders.size() == 1; };

/// True of an observation that has exactly these members.
auto has_members(std::vector<std::string> names) {
  return [names = std::move(names)](const core::observation& seen) {
    return member_names(seen) == names;
  };
}

TEST_P(StoreContract, AReleaseRecordIsShownInTheStepOfTheRelease) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const auto watched = b->watch();
  const grant g = a->hold();
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(held); }));
  a->release(g.version, {.clean = true,
                         .why = core::loss_reason::resigned,
                         .heir = "c d%",
                         .at_unix_ms = 1'769'860'800'123});
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(nobody); }));
  const core::release_record expected{.version = g.version,
                                      .holder = "a",
                                      .why = core::loss_reason::resigned,
                                      .heir = "c d%",
                                      .at_unix_ms = 1'769'860'800'123};
  EXPECT_EQ(watched->seen.back().last_release, expected);
  EXPECT_EQ(b->read().last_release, expected);
}

TEST_P(StoreContract, AReleaseRecordOutlivesTheNextGrantAndNotTheNextRelease) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const grant first = a->hold();
  a->release(first.version, {.clean = true, .why = core::loss_reason::unhealthy});
  const grant second = b->hold();
  const core::observation seen = a->read();
  ASSERT_TRUE(seen.last_release);
  EXPECT_EQ(seen.last_release->version, first.version);
  EXPECT_EQ(seen.last_release->why, core::loss_reason::unhealthy);
  b->release(second.version, {.why = core::loss_reason::shutdown});
  ASSERT_TRUE(a->read().last_release);
  EXPECT_EQ(a->read().last_release->holder, "b");
  EXPECT_EQ(a->read().last_release->why, core::loss_reason::shutdown);
}

TEST_P(StoreContract, AReleaseWithoutAVersionLeavesNoRecord) {
  auto a = join(settings("a"));
  const grant first = a->hold();
  a->release(first.version, {.clean = true, .why = core::loss_reason::resigned});
  a->hold();
  a->release();
  ASSERT_TRUE(a->read().last_release);
  EXPECT_EQ(a->read().last_release->version, first.version);
}

TEST_P(StoreContract, ATermThatWasDeletedHasNoReleaseRecord) {
  auto a = join(settings("a"));
  a->hold();
  store_->delete_lock("db0");
  EXPECT_FALSE(a->read().last_release);
}

TEST_P(StoreContract, MembersAreThoseThatAreThereHoldersOrNot) {
  auto a = join(announced(settings("a")));
  const auto watched = a->watch();
  a->hold();
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(has_members({"a"})); }));
  auto b = join(announced(settings("b")));
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(has_members({"a", "b"})); }));
  auto quiet = join(settings("quiet"));
  b->leave();
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(has_members({"a"})); }));
  EXPECT_THAT(watched->broken, testing::IsEmpty());
}

TEST_P(StoreContract, AMemberIsOneOfItsElectionsOnly) {
  auto both = join(announced(settings("both", std::chrono::seconds(10), 1, 2)));
  auto one = join(announced(settings("one")));
  const auto first = both->watch(0);
  const auto second = both->watch(1);
  ASSERT_TRUE(loop_.run_until([&] { return first->shows(has_members({"both", "one"})); }));
  ASSERT_TRUE(loop_.run_until([&] { return second->shows(has_members({"both"})); }));
}

TEST_P(StoreContract, MembersAreNotContenders) {
  auto a = join(announced(settings("a")));
  auto b = join(announced(settings("b")));
  const auto watched = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(has_members({"a", "b"})); }));
  EXPECT_THAT(b->read().holders, testing::IsEmpty());
  const grant g = b->hold();
  EXPECT_THAT(a->read().holders, ElementsAre(other("b", g.version)));
}

}  // namespace
}  // namespace tenure::tests
