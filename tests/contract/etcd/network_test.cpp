// A network between us and etcd that loses, delays and cuts.

#include "etcd_scene.hpp"

namespace tenure::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* campaign = "request_put";
constexpr const char* deletion = "request_delete_range";
constexpr const char* watching = "POST /v3/watch";

class EtcdNetwork : public EtcdBehindANetwork {
 protected:
  /// One that is not behind the network.
  std::unique_ptr<member> close(const std::string& identity, core::duration ttl = long_ttl) {
    return join(settings(identity, {etcd_->endpoint()}, ttl));
  }

  /// Acquires so that it is carried out and nobody hears of it.
  void acquire_unheard(member& who) {
    near_->lose_reply_to(campaign);
    EXPECT_THAT(words(acquire(who, renewal_time)), StartsWith("unknown"));
    EXPECT_FALSE(nobody(who.read()));
  }

  /// Watches what `a` holds, until the network is cut: what comes then is missed.
  [[nodiscard]] std::shared_ptr<sightings> watch_until_cut_off(member& who) {
    auto seen = who.watch();
    EXPECT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
    near_->refuse();
    near_->cut(watching);
    return seen;
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, EtcdNetwork, testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(EtcdNetwork, BlackHoleIsUnknownByTheDeadlineAndHeals) {
  auto a = far("a");
  const stores::grant held = a->hold();
  near_->black_hole();
  EXPECT_THAT(words(renew(*a, held.version, try_time)), StartsWith("unknown"));
  EXPECT_THAT(words(release(*a, held.version, try_time)), StartsWith("unknown"));
  EXPECT_THAT(words(acquire(*a, try_time)), StartsWith("unknown"));
  near_->heal();
  EXPECT_EQ(words(a->release(0, held.version)), "released") << "whatever was carried out late";
  EXPECT_THAT(a->read().holders, IsEmpty());
}

TEST_P(EtcdNetwork, BlackHoleToOneEndpointLeavesTheOther) {
  auto a = join(settings("a", {near_->endpoint(), etcd_->endpoint()}));
  const stores::grant held = a->hold();
  near_->black_hole();
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
}

TEST_P(EtcdNetwork, SlowNetworkIsNoFaultAndATermCountsFromTheSend) {
  constexpr auto delay = std::chrono::milliseconds(100);
  near_->delay(delay);
  auto a = far("a");
  const stores::grant held = a->hold();
  const auto outcome = renew(*a, held.version, renewal_time);
  const core::time_point answered = base::boot_now();
  ASSERT_EQ(words(outcome), "renewed");
  EXPECT_LE(std::get<stores::renewal>(outcome).sent_at + delay, answered)
      << "the request had not arrived yet";
  near_->heal();
}

TEST_P(EtcdNetwork, ClosedDoorIsUnknownAndNamesTheEndpoint) {
  auto a = far("a");
  const stores::grant held = a->hold();
  near_->refuse();
  near_->cut();
  EXPECT_THAT(words(renew(*a, held.version, try_time)),
              AllOf(StartsWith("unknown"), HasSubstr(near_->endpoint())));
  near_->heal();
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
}

TEST_P(EtcdNetwork, CutWatchComesBackAndShowsWhatItMissed) {
  auto a = close("a");
  auto b = far("b");
  const stores::grant held = a->hold();
  const auto seen = watch_until_cut_off(*b);
  ASSERT_EQ(words(a->release(0, held.version)), "released");
  auto c = close("c");
  const stores::grant next = c->hold();
  near_->heal();
  EXPECT_TRUE(eventually([&] { return seen->shows(held_by("c")) || !seen->broken.empty(); }));
  const auto again = b->watch();
  EXPECT_TRUE(eventually([&] { return again->shows(held_by("c")); }));
  EXPECT_GE(again->seen.back().as_of, next.version);
}

TEST_P(EtcdNetwork, GrantAfterAGapInTheWatchIsNotCalledCleanlyReleased) {
  auto a = close("a");
  auto b = far("b");
  const stores::grant held = a->hold();
  const auto seen = watch_until_cut_off(*b);
  // Unseen by b: a released, c came, and c's key was deleted while its workload may run.
  ASSERT_EQ(words(a->release(0, held.version)), "released");
  auto c = close("c");
  c->hold();
  etcd_operator(*etcd_).erase_election();
  near_->heal();
  const stores::grant got = b->hold();
  EXPECT_FALSE(got.released_cleanly);
}

TEST_P(EtcdNetwork, WatchThatFallsSilentIsNoticed) {
  const core::duration ttl = std::chrono::seconds(3);
  auto a = close("a", ttl);
  auto b = far("b", ttl);
  const stores::grant held = a->hold();
  const auto seen = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  near_->black_hole();
  ASSERT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_TRUE(eventually([&] { return !seen->broken.empty(); })) << "nobody can tell b";
  near_->heal();
  const auto again = b->watch();
  EXPECT_TRUE(eventually([&] { return again->shows(nobody); }));
}

TEST_P(EtcdNetwork, WatchThatHasNothingToSayIsLeftAloneAndCostsNoRequest) {
  auto a = close("a");
  auto b = far("b", std::chrono::seconds(2));
  const stores::grant held = a->hold();
  const auto seen = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  const std::size_t before = near_->count("/v3/kv/txn");
  const std::size_t asked = near_->count("progress_request");
  ASSERT_TRUE(eventually([&] { return near_->count("progress_request") > asked; }))
      << "it is asked on the stream itself";
  const core::time_point much_later = base::boot_now() + std::chrono::seconds(3);
  ASSERT_TRUE(eventually([&] { return base::boot_now() > much_later; }));
  EXPECT_EQ(near_->count("/v3/kv/txn"), before);
  EXPECT_EQ(near_->count(watching), 1u);
  EXPECT_THAT(seen->broken, IsEmpty());
}

TEST_P(EtcdNetwork, AcquireWhoseReplyWasLostIsTheSameTermWhenAskedAgain) {
  auto a = far("a");
  acquire_unheard(*a);
  const std::vector<core::holder> there = a->read().holders;
  const stores::grant again = a->hold();
  EXPECT_THAT(there, ElementsAre(own("a", again.version)));
}

TEST_P(EtcdNetwork, CampaignsThatFailShareOneLeaseAndNothingIsRevoked) {
  auto a = far("a", std::chrono::seconds(60), 5);
  for (std::uint32_t i = 0; i < 5; ++i) {
    near_->lose_reply_to(campaign);
    EXPECT_THAT(words(a->acquire(i)), StartsWith("unknown"));
  }
  EXPECT_EQ(etcd_operator(*etcd_).leases(), 1U);
  const stores::grant held = a->hold();
  EXPECT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_EQ(near_->count("/v3/lease/revoke"), 0U)
      << "a revocation that arrives late would end what was granted meanwhile";
}

TEST_P(EtcdNetwork, LeaseThatNobodyUsesEndsByItself) {
  auto a = far("a", std::chrono::seconds(2));
  const stores::grant held = a->hold();
  EXPECT_EQ(words(a->release(0, held.version)), "released");
  const etcd_operator operate(*etcd_);
  EXPECT_TRUE(eventually([&] { return operate.leases() == 0; }));
  EXPECT_GT(a->hold().version, held.version) << "and the next campaign gets another one";
}

TEST_P(EtcdNetwork, ReleaseOfWhateverWeHoldFreesAnAcquireWhoseReplyWasLost) {
  auto a = far("a");
  auto b = close("b");
  acquire_unheard(*a);
  ASSERT_EQ(words(a->release()), "released");
  EXPECT_EQ(words(b->acquire()), "granted");
}

TEST_P(EtcdNetwork, ReleaseWhoseReplyWasLostIsDoneWhenAskedAgain) {
  auto a = far("a");
  const stores::grant held = a->hold();
  near_->lose_reply_to(deletion);
  ASSERT_THAT(words(release(*a, held.version, renewal_time)), StartsWith("unknown"));
  EXPECT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_THAT(a->read().holders, IsEmpty());
}

TEST_P(EtcdNetwork, ReleaseCarriedOutLateDoesNotTouchALaterTerm) {
  auto a = far("a");
  const stores::grant first = a->hold();
  near_->hold_request(deletion);
  ASSERT_THAT(words(release(*a, first.version, try_time)), StartsWith("unknown"));
  ASSERT_EQ(words(a->release(0, first.version)), "released");
  const stores::grant second = a->hold();
  near_->let_go();
  ASSERT_TRUE(eventually([&] { return near_->held_was_answered(); }));
  EXPECT_THAT(a->read().holders, ElementsAre(own("a", second.version)));
  EXPECT_EQ(words(renew(*a, second.version, renewal_time)), "renewed");
}

TEST_P(EtcdNetwork, RenewalWhoseReplyWasLostIsUnknownAndTheTermGoesOn) {
  auto a = far("a");
  const stores::grant held = a->hold();
  near_->lose_reply_to("/v3/lease/keepalive");
  EXPECT_THAT(words(renew(*a, held.version, renewal_time)), StartsWith("unknown"));
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
}

/// The next try, at another endpoint, is told that the lease exists. It is ours: no other run has
/// its id.
class EtcdLostGrant : public EtcdBehindANetwork {
 protected:
  /// The reply to the first grant of a lease is lost.
  std::unique_ptr<member> join_behind(stores::setup with) {
    with.endpoints = {near_->endpoint(), etcd_->endpoint()};
    return join(with);
  }
  void lose_grant() { near_->lose_reply_to("POST /v3/lease/grant"); }
  [[nodiscard]] std::size_t keys(const std::string& prefix) const {
    return etcd_operator(*etcd_).keys(prefix).size();
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, EtcdLostGrant, testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(EtcdLostGrant, IsThatOfACampaignAllTheSame) {
  auto a = join_behind(settings("a", {}));
  lose_grant();
  a->hold();
  EXPECT_EQ(etcd_operator(*etcd_).leases(), 1U);
}

TEST_P(EtcdLostGrant, IsThatOfAnOrderAllTheSame) {
  auto a = join_behind(settings("a", {}));
  lose_grant();
  EXPECT_TRUE(a->leave_order({.id = "order-1",
                              .wanted = {.what = core::order_action::resign, .member = "b"},
                              .version = core::version{42}}));
  EXPECT_EQ(etcd_operator(*etcd_).leases(), 1U);
}

TEST_P(EtcdLostGrant, IsThatOfANameAllTheSame) {
  lose_grant();
  auto a = join_behind(announced(settings("a", {})));
  ASSERT_TRUE(eventually([&] { return keys("db0.tenure.members/") == 1; }));
  EXPECT_EQ(etcd_operator(*etcd_).leases(), 1U);
}

TEST_P(EtcdLostGrant, IsThatOfAPlaceAllTheSame) {
  auto a = join(settings("a", {etcd_->endpoint()}));
  a->hold();
  auto b = join_behind(announced(settings("b", {})));
  ASSERT_TRUE(eventually([&] { return keys("db0.tenure.members/") == 1; }));
  const auto seen = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  lose_grant();
  (*b)->stand_in_line(core::election_index{0}, true);
  ASSERT_TRUE(eventually([&] { return keys("db0/") == 2; }));
  EXPECT_EQ(etcd_operator(*etcd_).leases(), 3U) << "of the term, the name and the place";
}

}  // namespace
}  // namespace tenure::tests
