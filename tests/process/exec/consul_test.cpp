#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>

#include "harness.hpp"
#include "servers/consul_server.hpp"

/// How Consul ends the session or the lock of a holder, and that its workload is dead before the
/// next one runs.
namespace tenure::tests {
namespace {

/// Only what a test does moves such a lease.
constexpr const char* ttl_beyond_patience = "10m";
constexpr std::size_t server = 0;
constexpr std::size_t client = 1;

class ExecOnConsul : public testing::TestWithParam<servers::server_release> {
 protected:
  void SetUp() override {
    if (GetParam().binary.empty()) GTEST_SKIP() << GetParam().why;
  }

  void start(std::size_t clients = 0) {
    cluster_.emplace(GetParam(), servers::consul_options{.clients = clients});
  }

  std::unique_ptr<member> join(const std::string& identity, std::vector<std::string> more = {},
                               std::size_t agent = server,
                               const std::string& ttl = ttl_beyond_patience) const {
    return std::make_unique<member>(in_, member::options{.identity = identity,
                                                         .ttl = ttl,
                                                         .store = "consul",
                                                         .endpoint = cluster_->endpoint(agent),
                                                         .more = std::move(more)});
  }

  /// Its workload runs under a new version.
  [[nodiscard]] bool runs(const member& who, const std::string& identity) {
    const auto run = runs_as(in_, identity, newest_);
    EXPECT_TRUE(run) << who.process().err();
    if (run) newest_ = run->version;
    return run.has_value();
  }

  /// The workload of any member runs under a new version: one that has lost its lease campaigns
  /// again.
  [[nodiscard]] bool another_runs() {
    return eventually([&] {
      const auto all = stamped_runs(in_);
      if (all.empty() || all.back().version <= newest_) return false;
      newest_ = all.back().version;
      return true;
    });
  }

  [[nodiscard]] static bool waits(const member& who, const std::string& holder) {
    return eventually([&] { return who.process().said("holder=" + holder); });
  }

  void put(const std::string& path, const std::string& body = {}) const {
    const auto done = cluster_->call("PUT", path, body);
    EXPECT_EQ(done.status, 200) << path << done.body;
  }

  void register_check(const std::string& id) const {
    put("/v1/agent/check/register",
        R"({"Name":")" + id + R"(","ID":")" + id + R"(","TTL":"1h","Status":"passing"})");
    // The agent tells the servers a moment later.
    EXPECT_TRUE(eventually([&] {
      return cluster_->call("GET", "/v1/health/node/" + cluster_->node(server))
          .body.contains(R"("CheckID":")" + id + R"(","Name":")" + id + R"(","Status":"passing")");
    }));
  }

  /// Of who holds.
  [[nodiscard]] std::string session() const {
    const std::string body = cluster_->call("GET", "/v1/kv/test/.lock?consistent").body;
    const std::string name = R"("Session":")";
    const auto at = body.find(name);
    EXPECT_NE(at, std::string::npos) << body;
    return at == std::string::npos ? "" : body.substr(at + name.size(), 36);
  }

  void expect_clean() const {
    const auto all = stamped_runs(in_);
    EXPECT_TRUE(never_two_at_once(all));
    EXPECT_TRUE(versions_grow(all));
  }

  temporary_directory in_;
  std::optional<servers::consul_cluster> cluster_;
  std::uint64_t newest_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Servers, ExecOnConsul, testing::ValuesIn(servers::consul_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ExecOnConsul, AWorkloadDiesWithItsSessionAndWithItsLock) {
  start();
  const auto a = join("a");
  ASSERT_TRUE(runs(*a, "a"));
  const auto b = join("b");
  ASSERT_TRUE(waits(*b, "a")) << b->process().err();
  put("/v1/session/destroy/" + session());
  ASSERT_TRUE(another_runs()) << a->process().err() << b->process().err();
  put("/v1/kv/test/.lock?release=" + session());
  ASSERT_TRUE(another_runs()) << a->process().err() << b->process().err();
  expect_clean();
}

TEST_P(ExecOnConsul, AWorkloadDiesWithACheckThatFailsOrIsDeregistered) {
  start();
  register_check("one");
  register_check("two");
  const auto a = join("a", {"--node-check", "one"});
  ASSERT_TRUE(runs(*a, "a"));
  const auto b = join("b", {"--node-check", "two"});
  ASSERT_TRUE(waits(*b, "a")) << b->process().err();
  put("/v1/agent/check/fail/one");
  ASSERT_TRUE(runs(*b, "b"));
  const auto c = join("c");
  ASSERT_TRUE(waits(*c, "b")) << c->process().err();
  put("/v1/agent/check/deregister/two");
  ASSERT_TRUE(runs(*c, "c"));
  expect_clean();
  c->process().send(SIGTERM);
  EXPECT_TRUE(eventually([&] {
    return a->process().said("a check that the session needs does not pass");
  })) << "why it does not come back: "
      << a->process().err();
}

/// As with `systemctl stop consul` on the holder's machine.
TEST_P(ExecOnConsul, AWorkloadDiesWhenTheAgentOfItsClientLeaves) {
  start(1);
  const auto a = join("a", {}, client);
  ASSERT_TRUE(runs(*a, "a"));
  const auto b = join("b");
  ASSERT_TRUE(waits(*b, "a")) << b->process().err();
  cluster_->ask_to_end(client);
  ASSERT_TRUE(runs(*b, "b")) << a->process().err();
  expect_clean();
}

/// The holder's only agent is dead, so nobody can tell it that gossip has ended its session. The
/// lock-delay lasts for longer than its own budget.
TEST_P(ExecOnConsul, AWorkloadIsDeadBeforeSerfHealthLetsAnotherInIfTheLockDelayIsLongEnough) {
  start(1);
  const auto a =
      join("a", {"--node-check", "serfHealth", "--session-lock-delay", "10s"}, client, "10s");
  ASSERT_TRUE(runs(*a, "a"));
  const auto b = join("b");
  ASSERT_TRUE(waits(*b, "a")) << b->process().err();
  cluster_->kill(client);
  ASSERT_TRUE(runs(*b, "b")) << a->process().err();
  expect_clean();
  EXPECT_FALSE(a->workload());
}

}  // namespace
}  // namespace tenure::tests
