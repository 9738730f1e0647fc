// What an operator may do to etcd's keys, leases and history while we hold and watch.

#include "base/base64.hpp"
#include "etcd_scene.hpp"
#include "support/member_names.hpp"

namespace tenure::tests {
namespace {

using testing::AnyOf;
using testing::ElementsAre;

class EtcdOperator : public EtcdNode {
 protected:
  std::unique_ptr<member> join_as(const std::string& identity) {
    return join(settings(identity, {etcd_->endpoint()}));
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, EtcdOperator, testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(EtcdOperator, CompactionDuringAGapInTheWatchDoesNotMisleadIt) {
  servers::tcp_proxy proxy(etcd_->port());
  const etcd_operator operate(*etcd_);
  auto a = join_as("a");
  auto b = join(settings("b", {proxy.endpoint()}));
  const stores::grant held = a->hold();
  const auto seen = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  proxy.refuse();
  proxy.cut("POST /v3/watch");
  ASSERT_EQ(words(a->release(0, held.version)), "released");
  auto c = join_as("c");
  const stores::grant next = c->hold();
  for (int i = 0; i < 5; ++i) operate.put("other", std::to_string(i));
  operate.compact();
  proxy.heal();
  EXPECT_TRUE(eventually([&] { return seen->shows(held_by("c")) || !seen->broken.empty(); }));
  // What it begins with may be compacted just then: opened again, as an agent does, it goes on.
  auto again = b->watch();
  const auto follows = [&](const std::function<bool(const core::observation&)>& what) {
    if (!again->broken.empty()) again = b->watch();
    return again->shows(what);
  };
  ASSERT_TRUE(eventually([&] { return follows(held_by("c")); }));
  ASSERT_EQ(words(c->release(0, next.version)), "released");
  EXPECT_TRUE(eventually([&] { return follows(nobody); }));
}

TEST_P(EtcdOperator, CompactionUnderALiveWatchIsNotNoticed) {
  const etcd_operator operate(*etcd_);
  auto a = join_as("a");
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  for (int i = 0; i < 5; ++i) operate.put("other", std::to_string(i));
  operate.compact();
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
  operate.erase_election();
  EXPECT_TRUE(eventually([&] { return seen->shows(nobody); }));
  EXPECT_TRUE(seen->broken.empty());
}

TEST_P(EtcdOperator, DeletedKeyIsLostAsRevokedAndAsTakenOverOnceAnotherHolds) {
  auto a = join_as("a");
  auto b = join_as("b");
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  etcd_operator(*etcd_).erase(key_of(held));
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "lost: revoked");
  const stores::grant next = b->hold();
  EXPECT_FALSE(next.released_cleanly) << "what a runs may run still";
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(held_by("b")); }));
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "lost: taken_over");
}

TEST_P(EtcdOperator, AcceptsThatVersionsBeginAnewFromWhatEtcdHasNow) {
  auto a = join_as("a");
  const stores::grant before = a->hold();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  const auto first = a->accept_versions();
  ASSERT_TRUE(std::holds_alternative<core::agreement>(first));
  const auto agreed = std::get<core::agreement>(first);
  EXPECT_GT(agreed.versions_from, before.version);
  EXPECT_EQ(agreed.slots, 1U) << "which is as it was";
  EXPECT_TRUE(eventually(
      [&] { return seen->shows([&](const core::observation& o) { return o.agreed == agreed; }); }));
  const auto again = a->accept_versions();
  EXPECT_GT(std::get<core::agreement>(again).accepted_unix_ms, agreed.accepted_unix_ms)
      << "each can be told from the one before";
}

TEST_P(EtcdOperator, OneDeletedKeyOfManyLosesThatElectionAlone) {
  auto a = join(settings("a", {etcd_->endpoint()}, long_ttl, 2));
  const stores::grant first = a->hold(0);
  const stores::grant second = a->hold(1);
  etcd_operator(*etcd_).erase(key_of(first));
  const auto outcome = a->renew({{.which = core::election_index{0}, .version = first.version},
                                 {.which = core::election_index{1}, .version = second.version}});
  ASSERT_TRUE(std::holds_alternative<stores::renewal>(outcome));
  const auto& lost = std::get<stores::renewal>(outcome).lost;
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].which, core::election_index{0});
}

TEST_P(EtcdOperator, MemberWhoseLeaseIsRevokedIsListedAgain) {
  stores::setup with = settings("a", {etcd_->endpoint()});
  with.announce = true;
  auto a = join(with);
  const auto seen = a->watch();
  const auto is_listed = [](const core::observation& o) {
    return member_names(o) == std::vector<std::string>{"a"};
  };
  ASSERT_TRUE(eventually([&] { return seen->shows(is_listed); }));
  etcd_operator(*etcd_).revoke_members();
  ASSERT_TRUE(eventually([&] { return seen->shows(std::not_fn(is_listed)); }));
  EXPECT_TRUE(eventually([&] { return seen->shows(is_listed); }));
}

TEST_P(EtcdOperator, RevokedLeaseIsLostAndTheWatchShowsNobody) {
  auto a = join_as("a");
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  etcd_operator(*etcd_).revoke_lease_of(key_of(held));
  // Releases before 3.4.38 confirm a lease that was revoked; the key tells.
  EXPECT_THAT(words(renew(*a, held.version, renewal_time)),
              AnyOf("lost: session_invalid", "lost: revoked"));
  EXPECT_TRUE(eventually([&] { return seen->shows(nobody); }));
  const stores::grant again = a->hold();
  EXPECT_GT(again.version, held.version) << "another lease, another term";
  EXPECT_EQ(words(renew(*a, again.version, renewal_time)), "renewed");
}

TEST_P(EtcdOperator, KeyWrittenOverByHandKeepsItsTermAndItsHolderByCreation) {
  auto a = join_as("a");
  const stores::grant held = a->hold();
  const auto before = a->read();
  etcd_operator(*etcd_).put("db0/0", "somebody");
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed") << "it waits behind us";
  EXPECT_THAT(a->read().holders, ElementsAre(own("a", held.version)));
  EXPECT_EQ(a->read().holders, before.holders);
}

/// It takes deletions then, and no writes: a release without its record.
TEST_P(EtcdOperator, AReleaseSucceedsThoughEtcdHasNoSpaceLeft) {
  const servers::etcd_cluster small(GetParam(),
                                    {.tls = {}, .flags = {"--quota-backend-bytes=2097152"}});
  auto a = join(announced(settings("a", {small.endpoint()})));
  auto b = join(announced(settings("b", {small.endpoint()})));
  const auto by_a = a->watch();
  const auto by_b = b->watch();
  const stores::grant held = a->hold();
  (*b)->stand_in_line(core::election_index{0}, true);
  ASSERT_TRUE(eventually([&] { return etcd_operator(small).keys("db0/").size() == 2; }));
  const std::string much = base::to_base64(std::string(100'000, 'z'));
  std::string said;
  for (int i = 0; i < 60 && !said.contains("space exceeded"); ++i) {
    said = small.post("/v3/kv/put", R"({"key":")" + base::to_base64(std::to_string(i)) +
                                        R"(","value":")" + much + "\"}");
  }
  ASSERT_THAT(said, testing::HasSubstr("space exceeded"));
  EXPECT_EQ(words(a->release(0, held.version)), "released");
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("b")); }));
  EXPECT_FALSE(b->hold().released_cleanly) << "no record says so";
}

}  // namespace
}  // namespace tenure::tests
