// What a watch shows to members that wait.

#include <gmock/gmock.h>

#include "store_under_test.hpp"

namespace tenure::tests {
namespace {

using stores::grant;

TEST_P(StoreContract, WatchShowsThePresentStateFirst) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const auto empty = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return empty->shows(nobody); }));
  const grant g = a->hold();
  const auto held = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return !held->seen.empty(); }));
  EXPECT_TRUE(held_by("a")(held->seen.front())) << "the first, not one that follows";
  EXPECT_GE(held->seen.front().as_of, g.version);
}

TEST_P(StoreContract, WatchShowsAGrantARenewalThatMattersAndARelease) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const auto watched = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(nobody); }));
  const grant g = a->hold();
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(held_by("a")); }));
  const core::time_point expiry = watched->seen.back().expires_at;
  a->renew(only(g.version));
  if (expiry != core::never) {
    ASSERT_TRUE(loop_.run_until([&] { return watched->seen.back().expires_at > expiry; }));
  }
  a->release(0, g.version);
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(nobody); }));
  EXPECT_THAT(watched->broken, testing::IsEmpty());
}

TEST_P(StoreContract, WatchShowsTheHolderThatItsLockWasDeleted) {
  auto a = join(settings("a"));
  const auto watched = a->watch();
  const grant g = a->hold();
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(held_by("a")); }));
  store_->delete_lock("db0");
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(nobody); }));
  EXPECT_GE(watched->seen.back().as_of, g.version)
      << "or the holder could not tell that it is news";
}

TEST_P(StoreContract, WatchOpenedAgainTellsTheNewHandlerOnly) {
  auto a = join(settings("a"));
  const auto before = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return !before->seen.empty(); }));
  const auto after = a->watch();
  const std::size_t told = before->seen.size();
  ASSERT_TRUE(loop_.run_until([&] { return !after->seen.empty(); }));
  a->hold();
  ASSERT_TRUE(loop_.run_until([&] { return after->shows(held_by("a")); }));
  EXPECT_EQ(before->seen.size(), told);
}

TEST_P(StoreContract, WatchSaysNothingTwice) {
  auto a = join(settings("a"));
  auto b = join(settings("b", std::chrono::seconds(10), 1, 2));
  const auto watched = b->watch(0);
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(nobody); }));
  // A change of another election wakes the watch of a store that has only one for all.
  const auto other = b->watch(1);
  b->hold(1);
  ASSERT_TRUE(loop_.run_until([&] { return other->shows(held_by("b")); }));
  a->hold();
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(held_by("a")); }));
  for (std::size_t i = 1; i < watched->seen.size(); ++i) {
    EXPECT_NE(watched->seen[i], watched->seen[i - 1]);
  }
}

}  // namespace
}  // namespace tenure::tests
