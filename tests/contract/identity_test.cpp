// Two members that were given the same name.

#include <gmock/gmock.h>

#include "base/boot_time.hpp"
#include "store_under_test.hpp"
#include "stores/namesakes.hpp"
#include "support/member_names.hpp"

namespace tenure::tests {
namespace {

const auto in_use = [](const core::observation& seen) { return seen.identity_in_use; };
const auto shows_members = [](const core::observation& seen) { return seen.members.has_value(); };
const auto not_in_use = [](const core::observation& seen) { return !seen.identity_in_use; };

/// The name of a member that has crashed stays for longer than a test waits.
constexpr core::duration long_ttl = 2 * patience;

class OneIdentity : public StoreContract {
 protected:
  std::unique_ptr<member> join_as_twin(const std::string& session, bool announce) {
    stores::setup with = settings("twin", long_ttl);
    with.session = session;
    with.announce = announce;
    return join(with);
  }
};

TEST_P(OneIdentity, IsInUseForTheOneThatCameLater) {
  auto first = join_as_twin("session of the first", true);
  const auto of_first = first->watch();
  ASSERT_TRUE(loop_.run_until([&] {
    return of_first->shows(
        [](const auto& seen) { return member_names(seen) == std::vector<std::string>{"twin"}; });
  }));
  auto second = join_as_twin("session of the second", true);
  const auto of_second = second->watch();
  ASSERT_TRUE(loop_.run_until([&] { return of_second->shows(in_use); }));
  EXPECT_TRUE(not_in_use(first->read()));
  first->leave();
  EXPECT_TRUE(loop_.run_until([&] { return of_second->shows(not_in_use); }));
}

/// As a crashed member that is started again under its name: what it has left behind is listed for
/// up to a minute.
TEST_P(OneIdentity, IsFreeForTheNextRunOfOneThatHasCrashed) {
  auto first = join_as_twin("session of the first", true);
  const auto of_first = first->watch();
  ASSERT_TRUE(loop_.run_until([&] { return of_first->shows(shows_members); }));
  first->close();
  auto second = join_as_twin("session of the second", true);
  const auto of_second = second->watch();
  EXPECT_TRUE(loop_.run_until(
      [&] { return of_second->shows(shows_members) && of_second->shows(not_in_use); }));
  auto third = join_as_twin("session of the third", true);
  const auto of_third = third->watch();
  EXPECT_TRUE(loop_.run_until([&] { return of_third->shows(in_use); })) << "the second one lives";
  second->leave();
  EXPECT_TRUE(loop_.run_until([&] { return of_third->shows(not_in_use); }));
}

/// The living one is seen to live for as long as it is listed, not for a moment.
TEST_P(OneIdentity, StaysInUseWhileTheOneThatCameFirstLives) {
  auto first = join_as_twin("session of the first", true);
  const auto of_first = first->watch();
  ASSERT_TRUE(loop_.run_until([&] { return of_first->shows(shows_members); }));
  auto second = join_as_twin("session of the second", true);
  const auto of_second = second->watch();
  ASSERT_TRUE(loop_.run_until([&] { return of_second->shows(in_use); }));
  const core::time_point doubted_until = base::boot_now() + 2 * stores::namesake_doubt;
  ASSERT_TRUE(loop_.run_until([&] { return base::boot_now() >= doubted_until; }));
  EXPECT_TRUE(of_second->shows(in_use));
}

TEST_P(OneIdentity, IsInUseWhileAnotherHoldsByIt) {
  auto first = join_as_twin("session of the first", false);
  auto second = join_as_twin("session of the second", false);
  const auto watched = second->watch();
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(not_in_use); }));
  const stores::grant g = first->hold();
  EXPECT_TRUE(loop_.run_until([&] { return watched->shows(in_use); }));
  EXPECT_FALSE(first->read().identity_in_use);
  first->release(0, g.version);
  EXPECT_TRUE(loop_.run_until([&] { return watched->shows(not_in_use); }));
}

INSTANTIATE_TEST_SUITE_P(Stores, OneIdentity, testing::ValuesIn(all_stores()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tenure::tests
