// The agent of a client: a session belongs to the node of the agent that was asked for it.

#include "consul_scene.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::size_t server = 0;
constexpr std::size_t client = 1;

class ConsulClientAgent : public ConsulScene {
 protected:
  /// One server, and the agent of a client with these flags.
  void start_with_client(std::vector<std::string> flags = {}) {
    start({.clients = 1, .client_flags = std::move(flags)});
  }

  /// A member that asks this agent alone, with a TTL that no test outlives.
  stores::setup at(std::size_t agent, const std::string& identity) const {
    stores::setup out = settings(identity, 24h);
    out.endpoints = {cluster_->endpoint(agent)};
    return out;
  }

  [[nodiscard]] std::string node_of(const std::string& session) const {
    return cluster_->call("GET", "/v1/session/info/" + session).body;
  }

  /// A member that asks all agents, this one first.
  stores::setup at_all(std::size_t first) const {
    stores::setup out = at(first, "a");
    for (std::size_t i = 1; i < cluster_->size(); ++i) {
      out.endpoints.push_back(cluster_->endpoint((first + i) % cluster_->size()));
    }
    return out;
  }

  /// Autopilot looks every 10 s for servers that gossip believes dead, which takes as long.
  [[nodiscard]] bool is_removed(std::size_t dead) {
    const auto gone = [&] {
      const auto nodes = cluster_->call("GET", "/v1/catalog/nodes", "", (dead + 1) % 3);
      return nodes.status == 200 && !nodes.body.contains('"' + cluster_->node(dead) + '"');
    };
    return eventually(loop_, gone) || eventually(loop_, gone);
  }

  void expect_that_another_follows(const stores::grant& held) {
    EXPECT_GT(join(at(server, "b"))->hold().version, held.version);
  }

  /// Until its agent answers again, nothing is known.
  void expect_that_the_term_goes_on(member& who, const stores::grant& held) {
    cluster_->wait_until_healthy();
    std::string said;
    EXPECT_TRUE(eventually(loop_, [&] {
      said = words(who.renew(term(held.version)));
      return !said.starts_with("unknown");
    }));
    EXPECT_EQ(said, "renewed");
    EXPECT_EQ(holder(), session_of(held));
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, ConsulClientAgent, testing::ValuesIn(servers::consul_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ConsulClientAgent, IsWhereTheSessionOfAMemberBelongs) {
  start_with_client();
  auto a = join(at(client, "a"));
  const stores::grant held = a->hold();
  EXPECT_THAT(node_of(session_of(held)), HasSubstr(R"("Node":")" + cluster_->node(client) + '"'));
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  EXPECT_EQ(words(a->release(0, held.version)), "released");
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
}

/// Consul's default for clients, `leave_on_terminate`: it leaves the cluster, which deregisters its
/// node. It serves until that is known everywhere.
TEST_P(ConsulClientAgent, ThatIsStoppedLeavesAndTellsTheHolderThatItsLeaseIsOver) {
  start_with_client();
  auto a = join(at(client, "a"));
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  cluster_->ask_to_end(client);
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  EXPECT_THAT(seen->broken, testing::IsEmpty()) << "it has not been left in the dark";
  expect_that_another_follows(held);
}

TEST_P(ConsulClientAgent, ThatIsStoppedWithoutLeavingEndsNoTerm) {
  start_with_client({"-hcl=leave_on_terminate = false"});
  auto a = join(at(client, "a"));
  const stores::grant held = a->hold();
  cluster_->stop(client);
  EXPECT_EQ(holder(), session_of(held));
  cluster_->start(client);
  expect_that_the_term_goes_on(*a, held);
}

TEST_P(ConsulClientAgent, ThatIsKilledAndStartedAgainEndsNoTerm) {
  start_with_client();
  auto a = join(at(client, "a"));
  const stores::grant held = a->hold();
  cluster_->kill(client);
  EXPECT_THAT(words(a->renew(term(held.version))), HasSubstr("unknown: "));
  cluster_->start(client);
  expect_that_the_term_goes_on(*a, held);
}

/// Without `serfHealth` among the checks, what gossip believes has no effect on the session.
TEST_P(ConsulClientAgent, ThatGossipBelievesDeadEndsNoTermUnlessTheSessionSaysSo) {
  start_with_client();
  auto a = join(at(client, "a"));
  const stores::grant held = a->hold();
  cluster_->freeze(client);
  ASSERT_TRUE(eventually(loop_, [&] {
    return cluster_->call("GET", "/v1/health/node/" + cluster_->node(client))
        .body.contains(R"("Status":"critical")");
  }));
  EXPECT_EQ(holder(), session_of(held));
  cluster_->thaw(client);
  expect_that_the_term_goes_on(*a, held);
}

TEST_P(ConsulClientAgent, ThatIsFrozenOrKilledEndsTheLeaseOfASessionWithSerfHealth) {
  start_with_client();
  stores::setup with = at(client, "a");
  with.consul.node_checks = {"serfHealth"};
  auto a = join(with);
  const stores::grant first = a->hold();
  cluster_->freeze(client);
  ASSERT_TRUE(eventually(loop_, [&] { return holder().empty(); }));
  expect_that_another_follows(first);
  cluster_->thaw(client);
  cluster_->wait_until_healthy();
  // By the answer that comes first: that to its renewal, or to its look at the key.
  EXPECT_THAT(words(a->renew(term(first.version))),
              testing::AnyOf(is_session_loss(), "lost: taken_over"));

  destroy(holder());
  const stores::grant second = a->hold();
  cluster_->kill(client);
  ASSERT_TRUE(eventually(loop_, [&] { return holder().empty(); }));
  EXPECT_THAT(words(a->renew(term(second.version))), HasSubstr("unknown: "))
      << "the holder cannot know it: a lock-delay has to outlast its budget";
  expect_that_another_follows(second);
}

TEST_P(ConsulClientAgent, WhoseNodeIsDeregisteredEndsTheLease) {
  start_with_client();
  auto a = join(at(client, "a"));
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  put("/v1/catalog/deregister", R"({"Node":")" + cluster_->node(client) + R"("})");
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  EXPECT_THAT(words(a->renew(term(held.version))), is_session_loss());
  expect_that_another_follows(held);
}

/// The client's agent registers its node again soon, and then a session can be made there.
TEST_P(ConsulClientAgent, WhoseNodeIsDeregisteredAndComesBackServesTheNextCampaign) {
  start_with_client();
  auto a = join(at(client, "a"));
  const stores::grant held = a->hold();
  put("/v1/catalog/deregister", R"({"Node":")" + cluster_->node(client) + R"("})");
  put("/v1/kv/unrelated", "x");
  EXPECT_THAT(words(a->renew(term(held.version))), is_session_loss());
  stores::acquire_outcome next;
  EXPECT_TRUE(eventually(loop_, [&] {
    next = a->acquire();
    return words(next) == "granted";
  })) << words(next);
}

TEST_P(ConsulClientAgent, ACheckThatIsDeregisteredEndsTheLease) {
  start();
  register_node_check("alive");
  register_service_check("service:web");
  const auto hold_with = [&](auto add) {
    stores::setup with = settings("a", 24h);
    add(with);
    auto a = join(with);
    stores::grant held;
    // The agent tells the servers of its checks a moment later.
    EXPECT_TRUE(eventually(loop_, [&] {
      const auto outcome = a->acquire();
      if (words(outcome) != "granted") return false;
      held = std::get<stores::grant>(outcome);
      return true;
    }));
    return std::pair(std::move(a), held);
  };
  auto [a, of_node] = hold_with([](auto& with) { with.consul.node_checks = {"alive"}; });
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  put("/v1/agent/check/deregister/alive");
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  EXPECT_THAT(words(a->renew(term(of_node.version))), is_session_loss());

  auto [b, of_service] =
      hold_with([](auto& with) { with.consul.service_checks = {"service:web"}; });
  put("/v1/agent/service/deregister/web");
  ASSERT_TRUE(eventually(loop_, [&] { return holder().empty(); }));
  EXPECT_THAT(words(b->renew(term(of_service.version))), is_session_loss());
}

/// The server whose agent was asked for the session. Autopilot removes a dead one from the cluster
/// (`cleanup_dead_servers`), and its node goes with it.
TEST_P(ConsulClientAgent, AServerThatDiesTakesTheSessionsOfItsNodeAlong) {
  start({.members = 3});
  const std::size_t first = (cluster_->wait_for_leader() + 1) % 3;
  auto a = join(at_all(first));
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  cluster_->kill(first);
  ASSERT_TRUE(is_removed(first));
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  EXPECT_THAT(words(a->renew(term(held.version))), is_session_loss());
  EXPECT_GT(a->hold().version, held.version) << "in a session of another node";
}

TEST_P(ConsulClientAgent, AServerThatDiesTakesNoSessionAlongThatBelongsToAClient) {
  start({.members = 3, .clients = 1});
  auto a = join(at(3, "a"));
  const stores::grant held = a->hold();
  const std::size_t dead = cluster_->wait_for_leader();
  cluster_->kill(dead);
  ASSERT_TRUE(is_removed(dead));
  cluster_->start(dead);
  expect_that_the_term_goes_on(*a, held);
}

TEST_P(ConsulClientAgent, AServerThatDiesTakesNoSessionAlongIfDeadOnesAreNotCleanedUp) {
  start({.members = 3, .flags = {"-hcl=autopilot { cleanup_dead_servers = false }"}});
  auto a = join(at_all(0));
  const stores::grant held = a->hold();
  cluster_->kill(0);
  ASSERT_TRUE(eventually(loop_, [&] {
    return cluster_->call("GET", "/v1/health/node/" + cluster_->node(0), "", 1)
        .body.contains(R"("Status":"critical")");
  }));
  // The session of another ends in 12 s, so autopilot has looked meanwhile.
  stores::setup other = settings("b", 6s);
  other.elections = {{.name = "other"}};
  other.endpoints = {cluster_->endpoint(1)};
  auto b = join(other);
  b->hold();
  b->close();
  ASSERT_TRUE(eventually(loop_, [&] {
    const auto shown = cluster_->call("GET", "/v1/kv/other/.lock?consistent", "", 1);
    return shown.status == 200 && !shown.body.contains("Session");
  }));
  cluster_->start(0);
  expect_that_the_term_goes_on(*a, held);
}

}  // namespace
}  // namespace tenure::tests
