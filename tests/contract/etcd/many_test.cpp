// Many elections at once, and the connections that they share.

#include <algorithm>

#include "etcd_scene.hpp"

namespace tenure::tests {
namespace {

using testing::StartsWith;

constexpr std::uint32_t elections = 1000;
/// How many campaigns of one agent are under way; agent/stores/etcd/campaigns.cpp.
constexpr std::ptrdiff_t most_under_way = 64;

class EtcdMany : public EtcdBehindANetwork {
 protected:
  /// Campaigns in all elections but the first. What comes of it goes to `outcomes` as it comes.
  void campaign_everywhere(member& who, core::time_point deadline,
                           std::vector<std::string>& outcomes) {
    for (std::uint32_t i = 1; i < elections; ++i) {
      who->acquire(
          core::election_index{i}, core::no_version, deadline,
          [&outcomes](const stores::acquire_outcome& what) { outcomes.push_back(words(what)); });
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, EtcdMany, testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(EtcdMany, EveryCampaignEndsByItsDeadlineAndTheLeaseThatIsHeldIsRenewedMeanwhile) {
  auto a = far("a", long_ttl, elections);
  const stores::grant held = a->hold();
  std::vector<std::string> outcomes;
  campaign_everywhere(*a, soon(), outcomes);
  EXPECT_EQ(words(renew(*a, held.term, renewal_time)), "renewed");
  EXPECT_LT(outcomes.size(), elections - 1) << "the renewal went before the rest of them";
  ASSERT_TRUE(eventually([&] { return outcomes.size() == elections - 1; }));
  EXPECT_EQ(std::ranges::count(outcomes, "granted"), elections - 1);
}

TEST_P(EtcdMany, CampaignsThatWaitInVainForTheirTurnAreNeverSent) {
  auto a = far("a", long_ttl, elections);
  near_->black_hole();
  std::vector<std::string> outcomes;
  campaign_everywhere(*a, os::boot_now() + try_time, outcomes);
  ASSERT_TRUE(eventually([&] { return outcomes.size() == elections - 1; }));
  const auto unsent = std::ranges::count_if(
      outcomes, [](const std::string& said) { return said.contains("not asked for in time"); });
  EXPECT_EQ(unsent, elections - 1 - most_under_way);
  for (const std::string& said : outcomes) ASSERT_THAT(said, StartsWith("unknown"));

  near_->heal();
  ASSERT_TRUE(eventually([&] { return words(acquire(*a, renewal_time)) == "granted"; }));
}

TEST_P(EtcdMany, StandbyTakesOverOnConnectionsThatItHasOpenAlready) {
  auto a = join(settings("a", {etcd_->endpoint()}));
  const stores::grant held = a->hold();
  auto b = far("b");
  constexpr std::size_t watch_and_two_more = 3;
  ASSERT_TRUE(eventually([&] { return near_->open() == watch_and_two_more; })) << near_->open();
  near_->refuse();
  ASSERT_EQ(words(a->release(0, held.term)), "released");
  EXPECT_EQ(words(acquire(*b, renewal_time)), "granted");
}

}  // namespace
}  // namespace tenure::tests
