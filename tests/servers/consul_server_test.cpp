// What Tenure builds on in Consul holds for the real servers of both ends, and the cluster that
// tests run against does what it says. What takes time, other leaders or a restore to show is in
// consul_over_time_test.cpp.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "servers/real_consul.hpp"
#include "stores/consul/codec.hpp"

namespace tenure::servers {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Servers, RealConsul, ::testing::ValuesIn(consul_releases()),
                         [](const auto& info) { return info.param.name; });

TEST_P(RealConsul, ATransactionThatLocksSaysWithWhichIndices) {
  start();
  const std::string ours = session();
  const consul_answer taken = transact(json::array({verb("lock", ours)}));
  ASSERT_EQ(taken.status, 200) << taken.body;
  const json results = json::parse(taken.body).at("Results");
  ASSERT_EQ(results.size(), 1U) << taken.body;
  EXPECT_EQ(entry_in(results.at(0).at("KV")), read());
  EXPECT_EQ(read()->lock_index, 1U);
  EXPECT_EQ(read()->session, ours);
}

TEST_P(RealConsul, TheHolderThatLocksAgainChangesNothingUnlessItWritesSomethingElse) {
  start();
  const std::string ours = session();
  ASSERT_EQ(acquire(ours), "true");
  const kv_entry first = *read();
  ASSERT_EQ(acquire(ours), "true");
  EXPECT_EQ(read(), first);
  ASSERT_EQ(transact(json::array({verb("lock", ours)})).status, 200) << "with a value";
  EXPECT_EQ(read()->lock_index, first.lock_index) << "the same term";
  EXPECT_GT(read()->modify_index, first.modify_index);
}

TEST_P(RealConsul, AKeyThatIsUnlockedAndLockedInOneStepIsANewTermOfTheSameSession) {
  start();
  const std::string ours = session();
  ASSERT_EQ(acquire(ours), "true");
  const kv_entry first = *read();
  ASSERT_EQ(hand_over(ours, ours).status, 200);
  EXPECT_EQ(read()->lock_index, first.lock_index + 1);
  EXPECT_GT(read()->modify_index, first.modify_index);
}

TEST_P(RealConsul, TheEndOfASessionReleasesItsKeysOrDeletesThemAsItWasMade) {
  start();
  const std::string releases = session();
  ASSERT_EQ(acquire(releases), "true");
  const kv_entry held = *read();
  destroy(releases);
  const kv_entry free = *read();
  EXPECT_EQ(free.session, "");
  EXPECT_EQ(free.lock_index, held.lock_index);
  EXPECT_GT(free.modify_index, held.modify_index);
  EXPECT_EQ(cluster_->call("PUT", "/v1/session/renew/" + releases).status, 404);
  EXPECT_NE(acquire(releases), "true");

  const std::string deletes = session_at(0, {{"Behavior", "delete"}, {"LockDelay", "0s"}});
  ASSERT_EQ(acquire(deletes, 0, "db/other"), "true");
  destroy(deletes);
  EXPECT_FALSE(read(0, "db/other"));
}

TEST_P(RealConsul, ALockDelayFollowsADeletedKeyToo) {
  start();
  const std::string holder = session_at(0, {{"Behavior", "delete"}, {"LockDelay", "60s"}});
  const std::string other = session();
  ASSERT_EQ(acquire(holder), "true");
  destroy(holder);
  ASSERT_FALSE(read());
  EXPECT_EQ(acquire(other), "fals");
  EXPECT_THAT(transact(json::array({verb("lock", other)})).body, HasSubstr("lock delay"));
  EXPECT_EQ(acquire(other, 0, "db/another"), "true") << "it is that of the key";
}

TEST_P(RealConsul, ATransactionMayHaveSixtyFourOperations) {
  start();
  json all = json::array();
  while (all.size() < 64) {
    all.push_back({{"KV", {{"Verb", "check-not-exists"}, {"Key", std::to_string(all.size())}}}});
  }
  EXPECT_EQ(transact(all).status, 200);
}

TEST_P(RealConsul, AnAnswerAboutAFolderHasTheIndexOfItsLastChange) {
  start();
  const auto index = [this] {
    const std::string head = cluster_->call("GET", "/v1/kv/db/?recurse&consistent").head;
    const std::string name = "X-Consul-Index: ";
    const auto at = head.find(name);
    return at == std::string::npos ? 0 : std::stoull(head.substr(at + name.size()));
  };
  cluster_->call("PUT", "/v1/kv/db/a", "1");
  const auto made = index();
  EXPECT_GT(made, 0U);
  cluster_->call("PUT", "/v1/kv/elsewhere", "1");
  EXPECT_EQ(index(), made);
  cluster_->call("DELETE", "/v1/kv/db/a");
  const auto deleted = index();
  EXPECT_GT(deleted, made) << "a deletion is a change, until Consul forgets it";
  cluster_->call("PUT", "/v1/kv/elsewhere", "2");
  EXPECT_EQ(index(), deleted);
}

TEST_P(RealConsul, ADeletedKeyBeginsItsLockIndexAgainButNotItsModifyIndex) {
  start();
  const std::string ours = session();
  ASSERT_EQ(acquire(ours), "true");
  const kv_entry before = *read();
  ASSERT_EQ(cluster_->call("DELETE", std::string("/v1/kv/") + key).body.substr(0, 4), "true");
  ASSERT_EQ(acquire(session()), "true");
  EXPECT_EQ(read()->lock_index, 1U);
  EXPECT_GT(read()->modify_index, before.modify_index);
}

TEST_P(RealConsul, AKeyThatAnyoneWritesStaysLockedAndLosesItsLockIndex) {
  start();
  const std::string ours = session();
  ASSERT_EQ(acquire(ours), "true");
  ASSERT_EQ(cluster_->call("PUT", std::string("/v1/kv/") + key, "x").status, 200);
  EXPECT_EQ(read()->session, ours);
  EXPECT_EQ(read()->lock_index, 0U);
}

TEST_P(RealConsul, OneTransactionHandsTheKeyFromOneSessionToAnother) {
  start();
  const std::string holder = session();
  const std::string heir = session();
  ASSERT_EQ(acquire(holder), "true");
  const kv_entry before = *read();
  const consul_answer done = hand_over(holder, heir);
  ASSERT_EQ(done.status, 200) << done.body;
  const kv_entry after = *read();
  EXPECT_EQ(after.session, heir);
  EXPECT_EQ(after.lock_index, before.lock_index + 1) << "a new sequencer";
  EXPECT_GT(after.modify_index, before.modify_index) << "a new version";
  EXPECT_EQ(after.create_index, before.create_index);
  EXPECT_EQ(entry_in(json::parse(done.body).at("Results").back().at("KV")), after)
      << "the holder learns the heir's version";
  // The holder's session has nothing to do with the key any more.
  EXPECT_EQ(destroy(holder).status, 200);
  EXPECT_EQ(read(), after);
}

TEST_P(RealConsul, AHandOverByAnyoneElseOrToNobodyChangesNothing) {
  start();
  const std::string holder = session();
  const std::string other = session();
  ASSERT_EQ(acquire(holder), "true");
  const kv_entry before = *read();
  EXPECT_EQ(hand_over(other, other).status, 409) << "it does not hold";
  const std::string gone = session();
  destroy(gone);
  const consul_answer to_nobody = hand_over(holder, gone);
  EXPECT_NE(to_nobody.status, 200) << to_nobody.body;
  EXPECT_EQ(read(), before);
}

TEST_P(RealConsul, AHandOverIsNotDelayedAndTheEndOfTheHeirIs) {
  start();
  const std::string holder = session("60s", "60s");
  const std::string heir = session("60s", "60s");
  const std::string third = session();
  ASSERT_EQ(acquire(holder), "true");
  ASSERT_EQ(hand_over(holder, heir).status, 200);
  destroy(heir);
  EXPECT_EQ(read()->session, "");
  EXPECT_EQ(acquire(third), "fals") << "the lock-delay of the heir's session";
  const consul_answer refused = transact(json::array({verb("lock", third)}));
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("lock delay"));
}

TEST_P(RealConsul, ATtlBelowItsLeastIsRefusedWithTheRange) {
  start();
  const consul_answer refused =
      cluster_->call("PUT", "/v1/session/create", R"({"TTL":"500ms","NodeChecks":[]})");
  EXPECT_NE(refused.status, 200);
  EXPECT_THAT(refused.body, HasSubstr("must be between"));
}

TEST_P(RealConsul, EveryRequestOfOursIsUnderstood) {
  using namespace stores::consul;
  start();
  const auto made =
      parse_session(cluster_
                        ->call("PUT", "/v1/session/create",
                               session_request({.name = "of a test",
                                                .ttl = seconds(20),
                                                .lock_delay = std::chrono::milliseconds(1500),
                                                .node_checks = {"serfHealth"}}))
                        .body);
  ASSERT_TRUE(made) << made.error().why;
  const auto renewed =
      parse_renewal(cluster_->call("PUT", "/v1/session/renew/" + *made).body, *made);
  ASSERT_TRUE(renewed) << renewed.error().why;
  EXPECT_EQ(*renewed, seconds(20));

  const auto transact = [this](const std::vector<operation>& all) {
    const consul_answer answer = cluster_->call("PUT", "/v1/txn", transaction_request(all));
    return parse_transaction(answer.status, answer.body);
  };
  const auto written = transact(
      {check_absent{key}, lock{.key = key, .value = "me", .flags = lock_flags, .session = *made},
       check_session{.key = key, .session = *made},
       stores::consul::write{.key = "db/a", .value = std::string("\0\xff", 2)},
       stores::consul::write{.key = "db/b", .value = "once", .index = 0}, fetch{key}, fetch{"db/a"},
       fetch{"db/b"}});
  ASSERT_TRUE(written) << written.error().why;
  ASSERT_TRUE(written->failed.empty()) << written->failed.front().what;
  ASSERT_EQ(written->shown.size(), 7U) << "a check of a session shows the key, too";
  const auto shown = parse_keys(cluster_->call("GET", "/v1/kv/db/?recurse&consistent").body);
  ASSERT_TRUE(shown) << shown.error().why;
  EXPECT_EQ(*shown, std::vector(written->shown.begin() + 4, written->shown.end()));
  EXPECT_EQ(shown->at(0).session, *made);
  EXPECT_EQ(shown->at(1).value, std::string("\0\xff", 2));

  const std::uint64_t index = shown->at(2).modify_index;
  const auto undone =
      transact({check_index{.key = "db/b", .index = index}, erase{.key = "db/b", .index = index},
                unlock{.key = key, .value = "", .session = *made}});
  ASSERT_TRUE(undone) << undone.error().why;
  EXPECT_TRUE(undone->failed.empty());
  EXPECT_EQ(undone->shown.size(), 2U) << "nothing is shown of what is deleted";
  const auto late = transact({erase{.key = "db/a", .index = 1}});
  ASSERT_TRUE(late) << late.error().why;
  ASSERT_EQ(late->failed.size(), 1U);
  EXPECT_EQ(late->failed[0].which, 0U);

  const auto self = parse_agent(cluster_->call("GET", "/v1/agent/self").body);
  ASSERT_TRUE(self) << self.error().why;
  EXPECT_EQ(self->datacenter, "dc1");
}

TEST_P(RealConsul, EachReasonOfAFailureIsUnderstood) {
  using namespace stores::consul;
  start();
  const std::string holder = session("60s", "60s");
  const std::string other = session();
  ASSERT_EQ(acquire(holder), "true");
  const auto why = [this](const operation& one) {
    const consul_answer answer = cluster_->call("PUT", "/v1/txn", transaction_request({{one}}));
    const auto reply = parse_transaction(answer.status, answer.body);
    EXPECT_TRUE(reply) << reply.error().why;
    EXPECT_EQ(reply->failed.size(), 1U) << answer.body;
    return reply->failed.at(0).why;
  };
  const auto locks = [](const std::string& who) {
    return lock{.key = key, .value = "", .session = who};
  };
  EXPECT_EQ(why(locks(other)), failure::held);
  EXPECT_EQ(why(locks("11111111-1111-1111-1111-111111111111")), failure::no_session);
  EXPECT_EQ(why(unlock{.key = key, .value = "", .session = other}), failure::changed);
  EXPECT_EQ(why(check_session{.key = key, .session = other}), failure::changed);
  EXPECT_EQ(why(check_session{.key = "db/none", .session = other}), failure::changed);
  EXPECT_EQ(why(check_index{.key = key, .index = 1}), failure::changed);
  EXPECT_EQ(why(check_index{.key = "db/none", .index = 1}), failure::changed);
  EXPECT_EQ(why(check_absent{key}), failure::changed);
  EXPECT_EQ(why(stores::consul::write{.key = key, .value = "", .index = 0}), failure::changed);
  EXPECT_EQ(why(erase{.key = key, .index = 1}), failure::changed);
  EXPECT_EQ(why(fetch{"db/none"}), failure::changed);
  destroy(holder);
  EXPECT_EQ(why(locks(other)), failure::delayed);
}

TEST_P(RealConsul, AClusterSurvivesTheLossOfItsLeaderAndItsSessionsDoToo) {
  consul_cluster& consul = start(3);
  const std::string holder = session("60s");
  ASSERT_EQ(acquire(holder), "true");
  const kv_entry before = *read();
  const std::size_t first = consul.wait_for_leader();
  consul.kill(first);
  const std::size_t second = consul.wait_for_leader();
  EXPECT_NE(second, first);
  const consul_answer shown =
      consul.call("GET", std::string("/v1/kv/") + key + "?consistent", "", second);
  ASSERT_EQ(shown.status, 200) << shown.body;
  EXPECT_EQ(entry_in(json::parse(shown.body).at(0)), before);
  consul.start(first);
  consul.wait_until_healthy();
}

}  // namespace
}  // namespace tenure::servers
