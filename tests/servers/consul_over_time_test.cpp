// What Tenure builds on in Consul and only time, another leader, a restart or a restore shows. Each
// instant that is compared is one before a request or after its answer, so that a slow machine
// cannot make a test fail.
#include <chrono>
#include <memory>
#include <string_view>

#include "base/boot_time.hpp"
#include "servers/plain_http.hpp"
#include "servers/real_consul.hpp"
#include "support/eventually.hpp"

namespace tenure::servers {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class RealConsulOverTime : public RealConsul {
 protected:
  /// When an answer has come that this session is no more; nothing if that takes too long. With
  /// "stale", by what the member itself has heard.
  [[nodiscard]] std::optional<core::time_point> end_of(
      const std::string& session, std::size_t member = 0,
      const std::string& consistency = "consistent") const {
    const bool ended = tests::eventually(
        [&] {
          const auto shown =
              cluster_->call("GET", "/v1/session/info/" + session + "?" + consistency, "", member);
          return shown.status == 200 && !shown.body.contains(session);
        },
        between_looks);
    return ended ? std::optional(base::boot_now()) : std::nullopt;
  }

  [[nodiscard]] consul_answer renew(const std::string& session, std::size_t member = 0) const {
    return cluster_->call("PUT", "/v1/session/renew/" + session, "", member);
  }

  /// `consul snapshot save` or `restore`.
  void snapshot(const std::string& what) {
    const server_process run(
        {GetParam().binary, "snapshot", what,
         "-http-addr=http://127.0.0.1:" + std::to_string(cluster_->port()), folder_ / "backup"},
        folder_ / "log");
    EXPECT_FALSE(run.runs(patience)) << what;
  }

  /// Asked, and not waited for.
  [[nodiscard]] std::unique_ptr<plain_http> ask(std::string_view method, const std::string& path,
                                                std::string_view body = {},
                                                std::size_t member = 0) const {
    return std::make_unique<plain_http>(cluster_->port(member), method, path, body);
  }

  /// All of it; empty if the connection was closed, or nothing comes in time.
  static std::string answer_to(plain_http& asked, std::chrono::milliseconds at_most = 10s) {
    return asked.read_until(std::string_view("\0", 1), 1, at_most);
  }

  tests::temporary_directory folder_;
};

INSTANTIATE_TEST_SUITE_P(Servers, RealConsulOverTime, ::testing::ValuesIn(consul_releases()),
                         [](const auto& info) { return info.param.name; });

// Sessions ---------------------------------------------------------------------------------------

TEST_P(RealConsulOverTime, ATtlIsALowerBoundThatConsulDoubles) {
  start();
  const std::string ours = session("2s");
  ASSERT_EQ(acquire(ours), "true");
  const core::time_point sent_at = base::boot_now();
  ASSERT_EQ(renew(ours).status, 200);
  const std::string longer = session("3s");
  ASSERT_EQ(acquire(longer, 0, "db/longer"), "true");
  const auto ended = end_of(ours);
  ASSERT_TRUE(ended);
  EXPECT_GE(*ended - sent_at, 4s) << "twice the TTL since the last renewal was sent";
  EXPECT_EQ(renew(ours).status, 404);
  ASSERT_TRUE(end_of(longer));
  EXPECT_LT(read()->modify_index, read(0, "db/longer")->modify_index)
      << "not later than one that was made afterwards and lives for longer";
}

TEST_P(RealConsulOverTime, ASessionWithoutATtlOutlivesThoseThatHaveOne) {
  start();
  const std::string ours = session("");
  ASSERT_EQ(acquire(ours), "true");
  ASSERT_TRUE(end_of(session("1s")));
  EXPECT_EQ(read()->session, ours);
  EXPECT_EQ(renew(ours).status, 200);
}

// Leaders ----------------------------------------------------------------------------------------

TEST_P(RealConsulOverTime, ANewLeaderBeginsAllTtlsAnew) {
  consul_cluster& consul = start(3);
  const std::size_t first = consul.wait_for_leader();
  const std::size_t asked = (first + 1) % 3;
  const std::string ours = session_at(asked, {{"TTL", "2s"}});
  ASSERT_EQ(renew(ours, asked).status, 200);
  consul.kill(first);
  core::time_point leaderless_at = base::boot_now();
  ASSERT_TRUE(tests::eventually(
      [&] {
        const core::time_point now = base::boot_now();
        const auto leads = consul.leader();
        if (!leads || *leads == first) leaderless_at = now;
        return leads && *leads != first;
      },
      between_looks));
  const auto ended = end_of(ours, asked);
  ASSERT_TRUE(ended);
  EXPECT_GE(*ended - leaderless_at, 4s) << "twice the TTL since another leads";
}

/// Two of three are frozen: the third one still leads, and cannot know whether it was replaced.
TEST_P(RealConsulOverTime, ALeaderThatIsAloneAnswersRenewalsAndReadsUnlessTheyAreConsistent) {
  consul_cluster& consul = start(3);
  const std::string ours = session("60s");
  ASSERT_EQ(acquire(ours), "true");
  const std::string plain = std::string("/v1/kv/") + key;
  const std::string fetches = json::array({verb("get", "")}).dump();
  bool answered = false;
  // It leads for half a second more, which a busy machine may miss.
  for (int tries = 0; tries < 5 && !answered; ++tries) {
    consul.wait_until_healthy();
    const std::size_t leader = consul.wait_for_leader();
    for (const std::size_t other : {(leader + 1) % 3, (leader + 2) % 3}) consul.freeze(other);
    answered = renew(ours, leader).status == 200 &&
               consul.call("GET", plain, "", leader).status == 200 &&
               consul.call("PUT", "/v1/txn", fetches, leader).status == 200;
    EXPECT_NE(consul.call("GET", plain + "?consistent", "", leader).status, 200);
    EXPECT_NE(consul.call("PUT", "/v1/txn?consistent", fetches, leader).status, 200);
    for (const std::size_t other : {(leader + 1) % 3, (leader + 2) % 3}) consul.thaw(other);
  }
  EXPECT_TRUE(answered);
}

/// It was stopped meanwhile, and is asked before it can learn that another leads.
TEST_P(RealConsulOverTime, AReplacedLeaderNeverAnswersAConsistentReadWithThePast) {
  consul_cluster& consul = start(3);
  const std::size_t first = consul.wait_for_leader();
  const std::size_t other = (first + 1) % 3;
  const std::string past = session_at(other, {{"TTL", "60s"}, {"LockDelay", "0s"}});
  ASSERT_EQ(acquire(past, other), "true");
  consul.freeze(first);
  std::vector<std::unique_ptr<plain_http>> asked;
  const std::string fetches = json::array({verb("get", "")}).dump();
  for (int i = 0; i < 8; ++i) {
    asked.push_back(ask("GET", std::string("/v1/kv/") + key + "?consistent", "", first));
    asked.push_back(ask("PUT", "/v1/txn?consistent", fetches, first));
  }
  // Its followers alone can say that there is another.
  ASSERT_TRUE(tests::eventually([&] { return destroy(past, other).status == 200; }, between_looks));
  ASSERT_EQ(read(other)->session, "");
  consul.thaw(first);
  for (const auto& one : asked) {
    const std::string said = answer_to(*one);
    EXPECT_FALSE(said.contains(past)) << said;
  }
}

// Lock-delays ------------------------------------------------------------------------------------

TEST_P(RealConsulOverTime, ALockDelayOutlivesTheLossOfTheLeader) {
  consul_cluster& consul = start(3);
  const std::size_t first = consul.wait_for_leader();
  const std::size_t asked = (first + 1) % 3;
  const std::string holder = session_at(asked, {{"LockDelay", "60s"}});
  const std::string other = session_at(asked, {{"LockDelay", "0s"}});
  ASSERT_EQ(acquire(holder, asked), "true");
  destroy(holder, asked);
  ASSERT_EQ(acquire(other, asked), "fals");
  // A server that has not yet heard that the end of the session is agreed on delays nothing.
  for (const std::size_t server : {asked, (first + 2) % 3}) {
    ASSERT_TRUE(end_of(holder, server, "stale"));
  }
  consul.kill(first);
  std::string said;
  ASSERT_TRUE(tests::eventually(
      [&] {
        said = acquire(other, asked);
        return said == "fals" || said == "true";
      },
      between_looks));
  EXPECT_EQ(said, "fals") << "each server counts it for itself";
  EXPECT_EQ(acquire(other, asked, "db/another"), "true");
}

/// It reads the end of the session from its log, and cannot know when that was.
TEST_P(RealConsulOverTime, ALockDelayBeginsAnewOnAServerThatIsStartedAgain) {
  consul_cluster& consul = start();
  const std::string holder = session("60s", "5s");
  const std::string other = session();
  ASSERT_EQ(acquire(holder), "true");
  destroy(holder);
  consul.stop(0);
  const core::time_point started_at = base::boot_now();
  consul.start(0);
  consul.wait_until_healthy();
  ASSERT_TRUE(tests::eventually([&] { return acquire(other) == "true"; }, between_looks));
  EXPECT_GE(base::boot_now() - started_at, 5s);
}

TEST_P(RealConsulOverTime, ALockDelayIsForgottenWhenASnapshotIsRestored) {
  start();
  const std::string holder = session("60s", "60s");
  const std::string other = session();
  ASSERT_EQ(acquire(holder), "true");
  destroy(holder);
  ASSERT_EQ(acquire(other), "fals");
  snapshot("save");
  ASSERT_EQ(acquire(other), "fals");
  snapshot("restore");
  EXPECT_TRUE(tests::eventually([&] { return acquire(other) == "true"; }, between_looks));
}

// Blocking queries -------------------------------------------------------------------------------

TEST_P(RealConsulOverTime, ABlockingQueryEndsWithAChangeBelowItsPrefixOrWithItsTime) {
  start();
  cluster_->call("PUT", "/v1/kv/db/a", "1");
  const std::string path = "/v1/kv/db/?recurse&consistent&index=";
  const std::string index = std::to_string(read(0, "db/a")->modify_index);

  const auto behind = ask("GET", path + "1&wait=60s");
  EXPECT_THAT(answer_to(*behind), HasSubstr("MQ==")) << "what it has missed";

  const auto ends = ask("GET", path + index + "&wait=1s");
  EXPECT_THAT(answer_to(*ends), HasSubstr("X-Consul-Index: " + index)) << "nothing has changed";

  const auto waits = ask("GET", path + index + "&wait=60s");
  cluster_->call("PUT", "/v1/kv/elsewhere", "1");
  cluster_->call("PUT", "/v1/kv/db/b", "2");
  EXPECT_THAT(answer_to(*waits), HasSubstr("Mg=="));
}

TEST_P(RealConsulOverTime, AQueryThatWaitsIsAnsweredWithTheOldStateWhenASnapshotIsRestored) {
  start();
  cluster_->call("PUT", "/v1/kv/db/a", "first");
  snapshot("save");
  std::string said;
  // The query has to wait before the restore, which nothing tells.
  for (int tries = 0; tries < 5 && said.empty(); ++tries) {
    cluster_->call("PUT", "/v1/kv/db/a", "second");
    const std::string index = std::to_string(read(0, "db/a")->modify_index);
    const auto waits = ask("GET", "/v1/kv/db/?recurse&consistent&index=" + index + "&wait=60s");
    ASSERT_TRUE(read(0, "db/a")) << "a round trip later";
    snapshot("restore");
    said = answer_to(*waits);
    if (!said.empty()) {
      EXPECT_THAT(said, HasSubstr("X-Consul-Index: " + index));
      EXPECT_THAT(said, HasSubstr("c2Vjb25k")) << "of before the restore";
      EXPECT_LT(read(0, "db/a")->modify_index, std::stoull(index)) << "the index goes back";
    }
  }
  EXPECT_FALSE(said.empty());
}

}  // namespace
}  // namespace tenure::servers
