// Two members that were given the same name.

#include <gmock/gmock.h>

#include "store_under_test.hpp"
#include "support/member_names.hpp"

namespace tenure::tests {
namespace {

const auto in_use = [](const core::observation& seen) { return seen.identity_in_use; };
const auto not_in_use = [](const core::observation& seen) { return !seen.identity_in_use; };

class OneIdentity : public StoreContract {
 protected:
  std::unique_ptr<member> join_as_twin(const std::string& session, bool announce) {
    stores::setup with = settings("twin");
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
