// Members of an etcd cluster that die, stall and come back, and what becomes of a lease meanwhile.

#include <cstdint>
#include <string>

#include "etcd_scene.hpp"
#include "fake_etcd.hpp"

namespace tenure::tests {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

const auto renewed = [](const std::string& outcome) { return outcome == "renewed"; };

class EtcdCluster : public EtcdFault {
 protected:
  void SetUp() override {
    EtcdFault::SetUp();
    if (IsSkipped()) return;
    etcd_ = std::make_unique<servers::etcd_cluster>(
        GetParam(), servers::etcd_options{.members = 3, .tls = {}, .flags = {}});
  }

  /// The endpoints, that of `first` first: it is the one that is asked.
  [[nodiscard]] std::vector<std::string> from(std::size_t first) const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < etcd_->size(); ++i) {
      out.push_back(etcd_->endpoint((first + i) % etcd_->size()));
    }
    return out;
  }

  /// A member that does not lead.
  [[nodiscard]] std::size_t follower() const { return (etcd_->wait_for_leader() + 1) % 3; }

  std::unique_ptr<servers::etcd_cluster> etcd_;
};

INSTANTIATE_TEST_SUITE_P(Servers, EtcdCluster, testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(EtcdCluster, RenewalAndWatchMoveToAnotherMemberWhenOursDies) {
  const std::size_t ours = follower();
  auto a = join(settings("a", from(ours)));
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));

  etcd_->kill(ours);
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed") << "within the same call";
  EXPECT_THAT(a->read().holders, ElementsAre(own("a", held.version)));
  etcd_operator(*etcd_, (ours + 1) % 3).erase_election();
  EXPECT_TRUE(eventually([&] { return seen->shows(nobody); })) << "the watch has moved as well";
}

TEST_P(EtcdCluster, StandbyWhoseMemberDiesSeesWhatHappensAtTheOthers) {
  const std::size_t ours = follower();
  auto a = join(settings("a", from(ours + 1)));
  auto b = join(settings("b", from(ours)));
  const stores::grant held = a->hold();
  const auto seen = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  etcd_->kill(ours);
  ASSERT_EQ(words(release(*a, held.version, renewal_time)), "released");
  EXPECT_TRUE(eventually([&] { return seen->shows(nobody) || !seen->broken.empty(); }));
  const auto again = b->watch();
  EXPECT_TRUE(eventually([&] { return again->shows(nobody); }));
}

TEST_P(EtcdCluster, StandbyWhoseMemberStallsSeesWhatHappensAtTheOthers) {
  const std::size_t ours = follower();
  const core::duration ttl = std::chrono::seconds(3);
  auto a = join(settings("a", from(ours + 1), ttl));
  auto b = join(settings("b", from(ours), ttl));
  const stores::grant held = a->hold();
  const auto seen = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  // Its kernel goes on acknowledging: nothing on the watch's connection tells.
  etcd_->freeze(ours);
  ASSERT_EQ(words(release(*a, held.version, renewal_time)), "released");
  EXPECT_TRUE(eventually([&] { return seen->shows(nobody); })) << "it would wait for ever";
  etcd_->thaw(ours);
}

TEST_P(EtcdCluster, TermOutlivesTheLeader) {
  const std::size_t first = etcd_->wait_for_leader();
  auto a = join(settings("a", from(first)));
  const stores::grant held = a->hold();
  const std::vector<core::holder> before = a->read().holders;
  etcd_->kill(first);
  ASSERT_TRUE(renews_until(*a, held.version, renewed));
  EXPECT_EQ(a->read().holders, before) << "the same term";
  EXPECT_EQ(a->hold().version, held.version) << "and asking again is still the same one";
}

TEST_P(EtcdCluster, RenewalAfterANewLeaderIsVerifiedByARead) {
  const std::size_t ours = follower();
  const std::size_t leader = etcd_->wait_for_leader();
  servers::tcp_proxy proxy(etcd_->port(ours));
  auto a = join(settings("a", {proxy.endpoint()}));
  const stores::grant held = a->hold();
  ASSERT_EQ(words(a->renew({{.which = core::election_index{0}, .version = held.version}})),
            "renewed");
  ASSERT_EQ(words(a->renew({{.which = core::election_index{0}, .version = held.version}})),
            "renewed");
  const std::size_t reads = proxy.count("/v3/kv/txn");
  etcd_->kill(leader);
  ASSERT_TRUE(renews_until(*a, held.version, renewed));
  // A keepalive tells how etcd was when it arrived, which may have been before the election.
  ASSERT_TRUE(renews_until(*a, held.version, renewed));
  EXPECT_GT(proxy.count("/v3/kv/txn"), reads)
      << "a lease that a new leader confirms says nothing of the key";
}

TEST_P(EtcdCluster, MemberThatLagsConfirmsNoTermWhoseKeyIsGone) {
  const std::size_t ours = follower();
  const std::size_t leader = etcd_->wait_for_leader();
  auto a = join(settings("a", {etcd_->endpoint(ours)}));
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  ASSERT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");

  auto lag = etcd_->slow_down(ours, std::chrono::seconds(60));
  // A member applies a write before its own disk has it, if it hears of the write and of its commit
  // at once. So its disk hangs on another write first.
  etcd_operator(*etcd_, leader).put("unrelated", "");
  ASSERT_TRUE(lag->holds());
  etcd_operator(*etcd_, leader).erase_election();
  auto b = join(settings("b", {etcd_->endpoint(leader)}));
  b->hold();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(words(renew(*a, held.version, try_time)), StartsWith("unknown"))
        << "the leader keeps the lease alive, and our member does not know yet what it has lost";
  }
  EXPECT_TRUE(seen->shows(held_by("a"))) << "it has known all the time, and proved nothing";
  lag.reset();
  EXPECT_TRUE(renews_until(*a, held.version,
                           [](const std::string& said) { return said == "lost: taken_over"; }));
}

/// The seconds that the leader that `member` knows lets a lease live.
std::int64_t seconds_left(const servers::etcd_cluster& of, std::size_t member,
                          const stores::grant& version) {
  const std::string key = key_of(version);
  const std::uint64_t lease = std::stoull(key.substr(key.rfind('/') + 1), nullptr, 16);
  const std::string said =
      of.post("/v3/lease/timetolive", R"({"ID":")" + std::to_string(lease) + "\"}", member);
  const std::string left = field_of(said, "TTL");
  return left.empty() ? INT64_MAX : std::stoll(left);
}

TEST_P(EtcdCluster, KeepaliveThatADeposedLeaderAnswersRenewsNothing) {
  const core::duration ttl = std::chrono::seconds(30);
  const std::size_t deposed = etcd_->wait_for_leader();
  const std::size_t other = (deposed + 1) % 3;
  auto a = join(settings("a", from(deposed), ttl, 2));
  const stores::grant held = a->hold();

  // It goes on renewing leases for as long as its disk hangs, although another leads.
  auto lag = etcd_->slow_down(deposed, std::chrono::seconds(60));
  auto b = join(settings("b", {etcd_->endpoint(deposed)}, ttl, 2));
  ASSERT_THAT(words(acquire(*b, try_time, 1)), StartsWith("unknown")) << "its disk hangs now";
  ASSERT_TRUE(eventually([&] { return etcd_->healthy(other); })) << "another leads";
  ASSERT_TRUE(eventually([&] { return seconds_left(*etcd_, other, held) <= 26; }));
  ASSERT_TRUE(renews_until(*a, held.version, renewed));
  EXPECT_GE(seconds_left(*etcd_, other, held), 28) << "the new leader has not heard of it";
}

TEST_P(EtcdCluster, WithoutAQuorumARenewalIsUnknownAndNothingElse) {
  const std::size_t ours = follower();
  auto a = join(settings("a", from(ours)));
  const stores::grant held = a->hold();
  etcd_->kill((ours + 1) % 3);
  etcd_->kill((ours + 2) % 3);
  // The member that is left may answer by itself until it knows.
  EXPECT_TRUE(renews_until(*a, held.version,
                           [](const std::string& said) { return said.starts_with("unknown"); }));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(words(renew(*a, held.version, try_time)), StartsWith("unknown"));
  }
  EXPECT_THAT(words(acquire(*a, try_time)), StartsWith("unknown"));
  etcd_->start((ours + 1) % 3);
  etcd_->start((ours + 2) % 3);
  ASSERT_TRUE(renews_until(*a, held.version, renewed));
  EXPECT_THAT(a->read().holders, ElementsAre(own("a", held.version)));
}

TEST_P(EtcdCluster, LeaseThatEndedWhileNobodyAnsweredIsLostByItsSession) {
  const core::duration ttl = std::chrono::seconds(2);
  auto a = join(settings("a", etcd_->endpoints(), ttl));
  const stores::grant held = a->hold();
  for (std::size_t i = 0; i < 3; ++i) etcd_->kill(i);
  EXPECT_THAT(words(renew(*a, held.version, try_time)), StartsWith("unknown"));
  for (std::size_t i = 0; i < 3; ++i) etcd_->start(i);
  etcd_->wait_until_healthy();
  // A restart begins the TTL anew; nobody renews it now.
  auto b = join(settings("b", etcd_->endpoints(), ttl));
  const auto seen = b->watch();
  ASSERT_TRUE(eventually([&] { return seen->shows(nobody); }))
      << testing::PrintToString(seen->broken);
  EXPECT_TRUE(renews_until(*a, held.version, [](const std::string& said) {
    return said == "lost: session_invalid" || said == "lost: revoked";
  }));
  EXPECT_GT(b->hold().version, held.version);
}

TEST_P(EtcdCluster, TermOutlivesARestartOfAllMembers) {
  auto a = join(settings("a", etcd_->endpoints()));
  const stores::grant held = a->hold();
  for (std::size_t i = 0; i < 3; ++i) etcd_->stop(i);
  EXPECT_THAT(words(renew(*a, held.version, try_time)), StartsWith("unknown"));
  for (std::size_t i = 0; i < 3; ++i) etcd_->start(i);
  ASSERT_TRUE(renews_until(*a, held.version, renewed));
  EXPECT_THAT(a->read().holders, ElementsAre(own("a", held.version)));
  const auto seen = a->watch();
  EXPECT_TRUE(eventually([&] { return seen->shows(held_by("a")); }));
}

TEST_P(EtcdCluster, RenewalGoesPastAStalledMemberWithinItsCall) {
  const std::size_t ours = follower();
  auto a = join(settings("a", from(ours)));
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  etcd_->freeze(ours);
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
  etcd_operator(*etcd_, (ours + 1) % 3).erase_election();
  EXPECT_TRUE(eventually([&] { return seen->shows(nobody); })) << "the watch has moved as well";
  etcd_->thaw(ours);
}

}  // namespace
}  // namespace tenure::tests
