// Many elections at once, and the connections that they share.

#include <algorithm>
#include <vector>

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
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
  EXPECT_LT(outcomes.size(), elections - 1) << "the renewal went before the rest of them";
  ASSERT_TRUE(eventually([&] { return outcomes.size() == elections - 1; }));
  EXPECT_EQ(std::ranges::count(outcomes, "granted"), elections - 1);
}

TEST_P(EtcdMany, CampaignsThatWaitInVainForTheirTurnAreNeverSent) {
  auto a = far("a", long_ttl, elections);
  near_->black_hole();
  std::vector<std::string> outcomes;
  campaign_everywhere(*a, base::boot_now() + try_time, outcomes);
  ASSERT_TRUE(eventually([&] { return outcomes.size() == elections - 1; }));
  const auto unsent = std::ranges::count_if(
      outcomes, [](const std::string& said) { return said.contains("not asked for in time"); });
  EXPECT_EQ(unsent, elections - 1 - most_under_way);
  for (const std::string& said : outcomes) ASSERT_THAT(said, StartsWith("unknown"));

  near_->heal();
  ASSERT_TRUE(eventually([&] { return words(acquire(*a, renewal_time)) == "granted"; }));
}

/// An agent that holds as many terms as take three reads, and what a renewal of them costs.
class EtcdManyTerms : public EtcdBehindANetwork {
 protected:
  static constexpr std::uint32_t held_terms = 300;
  static constexpr std::size_t reads_of_all = 3;

  void SetUp() override {
    EtcdBehindANetwork::SetUp();
    if (IsSkipped()) return;
    a_ = far("a", long_ttl, held_terms);
    seen_ = a_->watch();
    ASSERT_TRUE(loop_.run_until([&] { return seen_->shows(nobody); }));
    terms_ = hold_all(*a_, held_terms);
  }

  [[nodiscard]] std::size_t reads() const { return near_->count("/v3/kv/txn"); }
  [[nodiscard]] std::size_t keepalives() const { return near_->count("/v3/lease/keepalive"); }
  /// The etcd of Debian 12 tells the progress of a watch past events that are on their way.
  [[nodiscard]] bool reads_all() const {
    return (*a_)->describe().server_version.starts_with("3.4.");
  }

  stores::renew_outcome renew_all(core::duration within) { return renew(*a_, terms_, within); }

  std::unique_ptr<member> a_;
  std::shared_ptr<sightings> seen_;
  std::vector<core::renewal_item> terms_;
};

INSTANTIATE_TEST_SUITE_P(Servers, EtcdManyTerms, testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(EtcdManyTerms, AreRenewedByOneKeepaliveAndOneReadWhereTheWatchCanVouchForTheRest) {
  const std::size_t expected = reads_all() ? reads_of_all : 1U;
  std::size_t cost = 0;
  // On a busy machine the watch may say too late how far it is; then all keys are read as well.
  for (int tries = 0; tries < 20 && cost != expected; ++tries) {
    const std::size_t reads_before = reads();
    const std::size_t keepalives_before = keepalives();
    EXPECT_EQ(words(renew_all(renewal_time)), "renewed");
    EXPECT_EQ(keepalives() - keepalives_before, 1U);
    cost = reads() - reads_before;
    EXPECT_LE(cost, expected + reads_of_all);
  }
  EXPECT_EQ(cost, expected);
}

TEST_P(EtcdManyTerms, ThatAreGoneAreLostWhetherTheWatchHasShownItOrNot) {
  near_->hold_request("progress_request");
  etcd_operator(*etcd_).erase_election("db299");
  EXPECT_THAT(words(renew_all(renewal_time)), StartsWith("lost"))
      << "the watch does not say how far it is, so the keys are read in what is left of the time";
  const std::size_t reads_before = reads();
  const stores::renew_outcome next = renew_all(renewal_time);
  const auto* said = std::get_if<stores::renewal>(&next);
  ASSERT_NE(said, nullptr) << words(next);
  ASSERT_EQ(said->lost.size(), 1U);
  EXPECT_EQ(core::place(said->lost.front().which), 299U);
  EXPECT_EQ(reads() - reads_before, reads_of_all) << "the watch was asked once, and was silent";
}

/// The same on three members, of which the one that is asked hangs.
class EtcdManyTermsOnACluster : public EtcdFault {
 protected:
  static constexpr std::uint32_t held_terms = 200;
};

INSTANTIATE_TEST_SUITE_P(Servers, EtcdManyTermsOnACluster,
                         testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(EtcdManyTermsOnACluster, AreRenewedPastAMemberThatHangs) {
  servers::etcd_cluster etcd(GetParam(), {.members = 3, .tls = {}, .flags = {}});
  auto a = join(settings("a", etcd.endpoints(), long_ttl, held_terms));
  const std::vector<core::renewal_item> terms = hold_all(*a, held_terms);
  ASSERT_EQ(words(renew(*a, terms, renewal_time)), "renewed");
  etcd.freeze(0);
  EXPECT_EQ(words(renew(*a, terms, renewal_time)), "renewed")
      << "the watch is dropped while the look is under way";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(words(renew(*a, terms, renewal_time)), "renewed");
  etcd.thaw(0);
}

TEST_P(EtcdMany, StandbyTakesOverOnConnectionsThatItHasOpenAlready) {
  auto a = join(settings("a", {etcd_->endpoint()}));
  const stores::grant held = a->hold();
  auto b = far("b");
  constexpr std::size_t watch_and_two_more = 3;
  ASSERT_TRUE(eventually([&] { return near_->open() == watch_and_two_more; })) << near_->open();
  near_->refuse();
  ASSERT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_EQ(words(acquire(*b, renewal_time)), "granted");
}

}  // namespace
}  // namespace tenure::tests
