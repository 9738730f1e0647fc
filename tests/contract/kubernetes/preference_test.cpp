// Leases that Kubernetes' coordinated leader election gives to whom it chooses.

#include "virtual_scene.hpp"

namespace tenure::tests {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::SizeIs;

class KubernetesPreference : public VirtualKubernetes {
 protected:
  store_ptr join_and_listen(std::uint32_t slots = 1) {
    stores::setup with = settings("a", seconds(60), slots);
    with.notes = [this](const stores::notice& one) { said_.push_back(one); };
    return join(with);
  }

  void put(const std::string& strategy, const std::string& preferred) {
    nlohmann::json spec{{"leaseTransitions", 1}};
    if (!strategy.empty()) spec["strategy"] = strategy;
    if (!preferred.empty()) spec["preferredHolder"] = preferred;
    api_.model().put("db0", spec);
    api_.show();
    loop_.run();
  }

  std::vector<stores::notice> said_;
};

/// A candidate asks again whenever its watch shows a change, which a busy election has many of.
TEST_F(KubernetesPreference, ForSomebodyElseIsRefusedWithoutAnyRequest) {
  auto a = join_and_listen();
  put("OldestEmulationVersion", "");
  const int lists = api_.count("list");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(acquire(*a), "refused");
  EXPECT_EQ(api_.count("list"), lists);
  EXPECT_EQ(api_.count("write"), 0);
}

/// With several slots a second watch shows the others, and has no news of the first Lease: what is
/// shown is as it was before.
TEST_F(KubernetesPreference, IsShownToBeOverToAMemberThatWasRefused) {
  for (const std::uint32_t slots : {1U, 2U}) {
    auto a = join_and_listen(slots);
    int shown = 0;
    a->watch(core::election_index{0}, [&](const auto&) { ++shown; });
    put("OldestEmulationVersion", "");
    EXPECT_EQ(acquire(*a), "refused");
    shown = 0;
    put("", "");
    EXPECT_EQ(shown, 1) << slots << " slots";
  }
}

/// Each list shows all Leases anew, so that the next try would follow a refusal at once.
TEST_F(KubernetesPreference, ForSomebodyElseIsNoRefusalWhileNoWatchShowsWhenItEnds) {
  auto a = join_and_listen();
  put("OldestEmulationVersion", "");
  api_.on("watch", [](const auto&) { return std::nullopt; });
  api_.cut_watches();
  loop_.run();
  EXPECT_THAT(acquire(*a), HasSubstr("unknown: who holds the Lease db0 is chosen by Kubernetes'"));
}

TEST_F(KubernetesPreference, ForSomebodyElseIsSaidOnceAndWhenItIsOver) {
  auto a = join_and_listen();
  put("OldestEmulationVersion", "");
  put("OldestEmulationVersion", "");
  ASSERT_THAT(said_, SizeIs(1));
  EXPECT_TRUE(said_[0].is_trouble);
  EXPECT_THAT(said_[0].text, HasSubstr("chosen by Kubernetes' coordinated leader election"));
  put("OldestEmulationVersion", "c");
  ASSERT_THAT(said_, SizeIs(2));
  EXPECT_THAT(said_[1].text, HasSubstr("is to be held by c next"));
  put("OldestEmulationVersion", "a");
  ASSERT_THAT(said_, SizeIs(3));
  EXPECT_FALSE(said_[2].is_trouble);
  EXPECT_EQ(acquire(*a), "granted");
}

}  // namespace
}  // namespace tenure::tests
