// Servers that die, restart and change their leader; agents in turn; tokens; sockets.

#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "consul_scene.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

class ConsulCluster : public ConsulScene {
 protected:
  static stores::setup with_endpoints(stores::setup what, std::vector<std::string> all) {
    what.endpoints = std::move(all);
    return what;
  }

  [[nodiscard]] bool renews(member& who, core::version version) {
    return eventually(loop_, [&] {
      const std::string now = words(who.renew(term(version)));
      EXPECT_THAT(now, testing::Not(HasSubstr("lost"))) << now;
      return now == "renewed" || now.contains("lost");
    });
  }

  temporary_directory folder_;
};

INSTANTIATE_TEST_SUITE_P(Servers, ConsulCluster, testing::ValuesIn(servers::consul_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ConsulCluster, ATermOutlivesTheLossOfTheLeader) {
  start({.members = 3});
  auto a = join(with_endpoints(settings("a", 30s), cluster_->endpoints()));
  auto b = join(with_endpoints(settings("b", 30s), cluster_->endpoints()));
  const stores::grant held = a->hold();
  const std::size_t leader = cluster_->wait_for_leader();
  cluster_->kill(leader);
  ASSERT_TRUE(renews(*a, held.version));
  cluster_->wait_for_leader();
  EXPECT_EQ(words(b->acquire()), "refused");
  ASSERT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_GT(b->hold().version, held.version);
}

TEST_P(ConsulCluster, AnAgentThatIsGoneOrSilentIsLeftForTheNextOne) {
  start({.members = 3});
  const std::size_t leader = cluster_->wait_for_leader();
  const std::size_t first = (leader + 1) % 3;
  auto a = join(with_endpoints(settings("a", 30s), {"http://127.0.0.1:1", cluster_->endpoint(first),
                                                    cluster_->endpoint(leader)}));
  const stores::grant held = a->hold();
  // The silent one must not take so much time that the session ends.
  a->answer_within(10s);
  cluster_->freeze(first);
  EXPECT_TRUE(renews(*a, held.version));
  const auto seen = a->watch();
  EXPECT_TRUE(eventually(loop_, [&] { return seen->shows(std::not_fn(nobody)); }));
  cluster_->thaw(first);
}

TEST_P(ConsulCluster, ARestartOfTheServerEndsNoTerm) {
  start();
  auto a = join(settings("a", 60s));
  const stores::grant held = a->hold();
  cluster_->stop(0);
  EXPECT_THAT(words((*a).renew(term(held.version))), HasSubstr("unknown: "));
  cluster_->start(0);
  cluster_->wait_until_healthy();
  EXPECT_TRUE(renews(*a, held.version));
  EXPECT_EQ(a->read().holders.front().version, held.version);
}

TEST_P(ConsulCluster, ALeaseCountsFromWhenItsRequestLeftHoweverLateTheAnswer) {
  start();
  auto a = join(settings("a", 60s));
  const auto thawed_meanwhile = [&](const std::function<core::time_point()>& call) {
    cluster_->freeze(0);
    core::time_point thawed{};
    boost::asio::steady_timer later(loop_.context(), 200ms);
    later.async_wait([&](const auto&) {
      thawed = base::boot_now();
      cluster_->thaw(0);
    });
    const core::time_point sent_at = call();
    EXPECT_NE(thawed, core::time_point{});
    return sent_at < thawed;
  };
  stores::grant held;
  EXPECT_TRUE(thawed_meanwhile([&] {
    held = a->hold();
    return held.sent_at;
  }));
  EXPECT_TRUE(thawed_meanwhile([&] {
    const auto outcome = a->renew(term(held.version));
    EXPECT_EQ(words(outcome), "renewed");
    return std::get<stores::renewal>(outcome).sent_at;
  }));
}

TEST_P(ConsulCluster, ADatacenterThatDoesNotExistIsARefusalToOpen) {
  start();
  stores::setup with = settings("a");
  with.consul.datacenter = "dc9";
  member a(loop_, with);
  const auto opened = a.open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text, HasSubstr("check the name of the datacenter"));
  with.consul.datacenter = "dc1";
  join(with)->hold();
}

TEST_P(ConsulCluster, AnAgentIsFoundAtItsUnixSocket) {
  const std::string socket = folder_ / "consul.sock";
  start({.flags = {R"(-hcl=addresses { http = "127.0.0.1 unix://)" + socket + R"(" })"}});
  auto a = join(with_endpoints(settings("a"), {"unix:" + socket}));
  a->hold();
  EXPECT_NE(holder(), "");
}

TEST_P(ConsulCluster, ManyElectionsInAFolderAreWatchedTogether) {
  start();
  stores::setup with = settings("a");
  with.elections.clear();
  for (int i = 0; i < 40; ++i) with.elections.push_back({.name = "f/e" + std::to_string(i)});
  auto a = join(with);
  auto b = join(with);
  const auto seen = b->watch(39);
  const stores::grant held = a->hold(39);
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  EXPECT_EQ(seen->seen.back().holders.front().version, held.version);
  EXPECT_TRUE(b->read(3).holders.empty());
}

/// A Consul that lets nobody do anything without a token.
class ConsulWithTokens : public ConsulCluster {
 protected:
  void SetUp() override {
    ConsulCluster::SetUp();
    if (IsSkipped()) return;
    start({.flags = flags(), .token = "11111111-2222-3333-4444-555555555555"});
    make_policy("tenure", documented_policy("db0/"));
    make_policy("reader", R"(key_prefix "db0/" { policy = "read" })");
  }

  /// Further ones of the servers.
  [[nodiscard]] virtual std::vector<std::string> flags() const { return {}; }

  void make_policy(const std::string& name, const std::string& rules) const {
    put("/v1/acl/policy", nlohmann::json{{"Name", name}, {"Rules", rules}}.dump());
  }

  /// What docs/consul.md has for elections whose names, or whose folder, this is.
  static std::string documented_policy(const std::string& keys, const std::string& node = {}) {
    return "key_prefix \"" + keys +
           R"(" { policy = "write" } agent_prefix "" { policy = "read" } session_prefix ")" + node +
           R"(" { policy = "write" })";
  }

  struct token {
    std::string id;
    std::string secret;
  };
  token make_token(const std::string& policy) const {
    const auto made = nlohmann::json::parse(
        put("/v1/acl/token", R"({"Policies":[{"Name":")" + policy + R"("}]})"));
    return {.id = made.at("AccessorID"), .secret = made.at("SecretID")};
  }

  void write_token(const std::string& secret) const {
    std::ofstream(folder_ / "new") << secret << "\n";
    std::filesystem::rename(folder_ / "new", folder_ / "token");
  }

  stores::setup with_token(const std::string& identity) const {
    stores::setup out = settings(identity, 60s);
    out.secure.token_file = folder_ / "token";
    return out;
  }

  /// More elections than are watched each by itself.
  static stores::setup in_a_folder(stores::setup what) {
    what.elections.clear();
    for (int i = 0; i < 17; ++i) what.elections.push_back({.name = "team/e" + std::to_string(i)});
    return what;
  }

  /// All that a member does.
  void expect_enough(stores::setup with) {
    with.announce = true;
    auto a = join(with);
    EXPECT_NE((*a)->describe().server_version, "");
    const auto seen = a->watch();
    const stores::grant held = a->hold();
    EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
    ASSERT_TRUE(loop_.run_until([&] {
      return seen->shows([](const auto& o) { return o.members && !o.holders.empty(); });
    }));
    EXPECT_TRUE(a->leave_order({.id = "1",
                                .wanted = {.what = core::order_action::resign, .member = "a"},
                                .version = held.version}));
    EXPECT_EQ(words(a->release(0, held.version)), "released");
  }

  /// Who holds a slot of the semaphore "db0": the first session among its holders.
  [[nodiscard]] std::string contender() const {
    const auto body = nlohmann::json::parse(lock()->value);
    return body.at("Holders").begin().key();
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, ConsulWithTokens, testing::ValuesIn(servers::consul_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ConsulWithTokens, ThePolicyOfTheDocumentationIsEnough) {
  write_token(make_token("tenure").secret);
  expect_enough(with_token("a"));
}

TEST_P(ConsulWithTokens, ThePolicyOfTheDocumentationIsEnoughForASemaphore) {
  write_token(make_token("tenure").secret);
  stores::setup with = with_token("a");
  with.elections.front().slots = 3;
  // A holder that is dead has to be pruned with its contender's key.
  auto dead = join(with);
  dead->hold();
  const std::string session = contender();
  dead->close();
  destroy(session);
  expect_enough(with);
}

TEST_P(ConsulWithTokens, ThePolicyOfTheDocumentationIsEnoughForAFolderThatIsWatchedAsOne) {
  make_policy("folder", documented_policy("team/"));
  write_token(make_token("folder").secret);
  expect_enough(in_a_folder(with_token("a")));
}

TEST_P(ConsulWithTokens, SessionsMayBeAllowedAtTheNodeThatIsAskedAlone) {
  make_policy("of-m0", documented_policy("db0/", "m0"));
  write_token(make_token("of-m0").secret);
  expect_enough(with_token("a"));

  make_policy("of-m1", documented_policy("db0/", "m1"));
  write_token(make_token("of-m1").secret);
  EXPECT_THAT(words(join(with_token("b"))->acquire()),
              AllOf(HasSubstr("unknown: "), HasSubstr("Permission denied"),
                    HasSubstr("give the agent a token")));
}

/// Consul's `enable_key_list_policy`: a folder may be read only by who may list it.
class ConsulWithListPolicy : public ConsulWithTokens {
 protected:
  [[nodiscard]] std::vector<std::string> flags() const override {
    return {"-hcl=acl { enable_key_list_policy = true }"};
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, ConsulWithListPolicy,
                         testing::ValuesIn(servers::consul_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ConsulWithListPolicy, ThePolicyOfTheDocumentationIsEnough) {
  write_token(make_token("tenure").secret);
  expect_enough(with_token("a"));
  make_policy("folder", documented_policy("team/"));
  write_token(make_token("folder").secret);
  expect_enough(in_a_folder(with_token("b")));
}

TEST_P(ConsulWithListPolicy, ATokenThatMayReadAndNotListIsToldAtTheStartWhatItLacks) {
  write_token(make_token("reader").secret);
  member a(loop_, with_token("a"));
  const auto opened = a.open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text,
              AllOf(HasSubstr("Permission denied"), HasSubstr("give the agent a token")));
}

TEST_P(ConsulWithTokens, WithoutATokenOrWithAnUnknownOneNothingIsOpenedAndNoSecretSaid) {
  member without(loop_, settings("a"));
  const auto refused = without.open();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text,
              AllOf(HasSubstr("Permission denied"), HasSubstr("give the agent a token")));

  const std::string unknown = "99999999-2222-3333-4444-555555555555";
  write_token(unknown);
  member stranger(loop_, with_token("a"));
  const auto denied = stranger.open();
  ASSERT_FALSE(denied);
  EXPECT_THAT(denied.error().text,
              AllOf(HasSubstr("the token is unknown to Consul: check its file " +
                              (folder_ / "token").string()),
                    testing::Not(HasSubstr(unknown))));

  stores::setup with = settings("a");
  with.secure.token_file = folder_ / "absent";
  member lost(loop_, with);
  const auto missing = lost.open();
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text, HasSubstr("the token file"));
}

TEST_P(ConsulWithTokens, ATokenThatMayOnlyReadIsToldWhatItLacks) {
  write_token(make_token("reader").secret);
  auto a = join(with_token("a"));
  EXPECT_THAT(words(a->acquire()), AllOf(HasSubstr("unknown: "), HasSubstr("Permission denied"),
                                         HasSubstr("give the agent a token")));
  EXPECT_THAT(a->read().holders, testing::IsEmpty());
}

/// Consul refuses each operation of the transaction by itself, with the status of a conflict.
TEST_P(ConsulWithTokens, ATokenThatMayNotWriteTheKeysIsToldWhatItLacksAndReplacedAtOnce) {
  make_policy("sessions-alone", R"(key_prefix "db0/" { policy = "read" } )"
                                R"(session_prefix "" { policy = "write" })");
  write_token(make_token("sessions-alone").secret);
  auto a = join(with_token("a"));
  EXPECT_THAT(words(a->acquire()), AllOf(HasSubstr("unknown: "), HasSubstr("Permission denied"),
                                         HasSubstr("give the agent a token")));
  EXPECT_THAT(a->read().holders, testing::IsEmpty());
  write_token(make_token("tenure").secret);
  EXPECT_EQ(words(a->acquire()), "granted");
}

TEST_P(ConsulWithTokens, ATokenThatIsReplacedInItsFileIsUsedAtOnce) {
  const token first = make_token("tenure");
  write_token(first.secret);
  auto a = join(with_token("a"));
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return !seen->seen.empty(); }));
  write_token(make_token("tenure").secret);
  EXPECT_EQ(cluster_->call("DELETE", "/v1/acl/token/" + first.id).status, 200);
  EXPECT_TRUE(renews(*a, held.version));
  put("/v1/kv/db0/.lock?release=" + holder());
  EXPECT_TRUE(eventually(loop_, [&] { return seen->shows(nobody) || !seen->broken.empty(); }));
}

}  // namespace
}  // namespace tenure::tests
