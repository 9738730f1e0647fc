// Many elections at once, and the connections that they share.

#include <algorithm>
#include <optional>

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
    for (std::uint32_t i = 0; i < held_terms; ++i) {
      (*a_)->acquire(core::election_index{i}, core::no_version, soon(),
                     [this, i](const stores::acquire_outcome& what) {
                       const auto* got = std::get_if<stores::grant>(&what);
                       ASSERT_NE(got, nullptr);
                       terms_.push_back({core::election_index{i}, got->term});
                     });
    }
    ASSERT_TRUE(loop_.run_until([&] { return terms_.size() == held_terms; }));
  }

  [[nodiscard]] std::size_t reads() const { return near_->count("/v3/kv/txn"); }
  [[nodiscard]] std::size_t keepalives() const { return near_->count("/v3/lease/keepalive"); }
  /// Debian's etcd tells the progress of a watch past events that are on their way.
  [[nodiscard]] static bool reads_all() { return GetParam().name == "debian"; }

  stores::renew_outcome renew_all(core::duration within) {
    std::optional<stores::renew_outcome> outcome;
    (*a_)->renew(terms_, os::boot_now() + within,
                 [&](stores::renew_outcome what) { outcome = std::move(what); });
    EXPECT_TRUE(loop_.run_until([&] { return outcome.has_value(); }));
    return outcome.value_or(stores::unknown{"no answer"});
  }

  std::unique_ptr<member> a_;
  std::shared_ptr<sightings> seen_;
  std::vector<core::renewal_item> terms_;
};

INSTANTIATE_TEST_SUITE_P(Servers, EtcdManyTerms, testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(EtcdManyTerms, AreRenewedByOneKeepaliveAndOneReadWhereTheWatchCanVouchForTheRest) {
  const std::size_t reads_before = reads();
  const std::size_t keepalives_before = keepalives();
  EXPECT_EQ(words(renew_all(renewal_time)), "renewed");
  EXPECT_EQ(keepalives() - keepalives_before, 1U);
  EXPECT_EQ(reads() - reads_before, reads_all() ? reads_of_all : 1U);
}

TEST_P(EtcdManyTerms, ThatAreGoneAreLostWhetherTheWatchHasShownItOrNot) {
  near_->hold_request("progress_request");
  etcd_operator(*etcd_).erase_election("db299");
  const stores::renew_outcome first = renew_all(try_time);
  if (!reads_all()) {
    EXPECT_THAT(words(first), StartsWith("unknown"))
        << "the watch does not say how far it is, and nothing else has shown the keys";
  }
  const std::size_t reads_before = reads();
  const stores::renew_outcome next = renew_all(renewal_time);
  const auto* said = std::get_if<stores::renewal>(&next);
  ASSERT_NE(said, nullptr) << words(next);
  ASSERT_EQ(said->lost.size(), 1U);
  EXPECT_EQ(core::place(said->lost.front().which), 299U);
  EXPECT_EQ(reads() - reads_before, reads_of_all) << "the watch was asked once, and was silent";
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
