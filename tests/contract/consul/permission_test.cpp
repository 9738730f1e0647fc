// Tokens that change while a member holds and watches: what it may not see any more is not gone.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hostile_scene.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* to_sessions_alone = R"(session_prefix "" { policy = "write" })";
constexpr const char* to_all = R"(
key_prefix "db0/" { policy = "write" }
session_prefix "" { policy = "write" })";

class ConsulPermission : public ConsulScene {
 protected:
  void begin() {
    start({.token = "11111111-2222-3333-4444-555555555555"});
    policy_ = made("/v1/acl/policy", {{"Name", "tenure"}, {"Rules", to_all}}).at("ID");
    const json token = made("/v1/acl/token", {{"Policies", {{{"ID", policy_}}}}});
    write_token(token.at("SecretID"));
  }

  json made(const std::string& path, const json& what) const {
    return json::parse(put(path, what.dump()));
  }

  void allow(const char* rules) const {
    made("/v1/acl/policy/" + policy_, {{"ID", policy_}, {"Name", "tenure"}, {"Rules", rules}});
  }

  void write_token(const std::string& secret) const {
    std::ofstream(folder_ / "new") << secret << "\n";
    std::filesystem::rename(folder_ / "new", folder_ / "token");
  }

  stores::setup with_token(const std::string& identity, std::uint32_t slots = 1) const {
    stores::setup out = settings(identity, 60s, slots);
    out.secure.token_file = folder_ / "token";
    return out;
  }

  temporary_directory folder_;
  std::string policy_;
};

INSTANTIATE_TEST_SUITE_P(Servers, ConsulPermission, testing::ValuesIn(servers::consul_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ConsulPermission, AHolderWhoseTokenMayNotReadAnyMoreIsNotToldThatItsKeyIsGone) {
  begin();
  for (const std::uint32_t slots : {1U, 2U}) {
    SCOPED_TRACE(slots);
    cluster_->call("DELETE", "/v1/kv/db0/?recurse");
    auto a = join(with_token("a", slots));
    const stores::grant held = a->hold();
    const auto seen = a->watch();
    ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
    allow(to_sessions_alone);
    int turns = 0;
    // Each write ends a blocking query, the first of which began under the old policy.
    ASSERT_TRUE(eventually(loop_, [&] {
      put("/v1/kv/db0/wake", std::to_string(++turns));
      return !seen->broken.empty() || seen->shows(nobody);
    }));
    EXPECT_FALSE(seen->shows(nobody));
    EXPECT_THAT(seen->broken, testing::Contains(HasSubstr("key_prefix")));
    EXPECT_THAT(words(a->renew(term(held.version))), HasSubstr("unknown: "));
    allow(to_all);
    ASSERT_TRUE(
        eventually(loop_, [&] { return words(a->renew(term(held.version))) == "renewed"; }));
    const auto again = a->watch();
    ASSERT_TRUE(loop_.run_until([&] { return !again->seen.empty(); }));
    EXPECT_FALSE(nobody(again->seen.front()));
    // What is really gone is shown as that.
    cluster_->call("DELETE", "/v1/kv/db0/?recurse");
    EXPECT_TRUE(loop_.run_until([&] { return again->shows(nobody); }));
    EXPECT_EQ(words(a->renew(term(held.version))), "lost: revoked");
  }
}

TEST_P(ConsulPermission, WhoMayNotReadAnyMoreIsNotGrantedWhatItDoesNotSee) {
  begin();
  auto a = join(with_token("a"));
  a->hold();
  auto b = join(with_token("b"));
  allow(to_sessions_alone);
  const auto said = b->acquire();
  EXPECT_THAT(words(said), AllOf(HasSubstr("unknown: "), HasSubstr("key_prefix")));
}

// A token that is replaced in its file while calls are under way --------------------------------

class ConsulToken : public HostileConsul {
 protected:
  void write_token(const std::string& secret) const {
    std::ofstream(folder_ / "new") << secret << "\n";
    std::filesystem::rename(folder_ / "new", folder_ / "token");
  }

  temporary_directory folder_;
};

/// Both calls of a renewal have left with the old token when it is replaced: each is sent again
/// with the new one, although only one of them can find that the file has changed.
TEST_F(ConsulToken, EachCallThatWasRefusedIsSentAgainWithTheTokenOfNow) {
  write_token("old");
  stores::setup with = settings("a");
  with.secure.token_file = folder_ / "token";
  auto a = join(with);
  const stores::grant held = a->hold();
  a->answer_within(patience);
  const auto arrived = std::make_shared<std::atomic<int>>(0);
  const auto replaced = std::make_shared<std::atomic<bool>>(false);
  for (const char* name : {"renew", "look"}) {
    fake_.on(name, [this, arrived, replaced](peer& to, const std::string& request) {
      if (request.contains("X-Consul-Token: new"))
        return fake_consul::say(to, fake_.truth(request));
      // Not before both have left, and whichever is last replaces the file.
      if (++*arrived == 2) {
        write_token("new");
        *replaced = true;
      }
      while (!*replaced) {
        if (to.closed_within(1ms)) return;
      }
      status("403 Forbidden", "ACL not found")(to, request);
    });
  }
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  EXPECT_EQ(*arrived, 2) << "no call was sent more than once with the old one";
}

TEST_F(ConsulToken, ATokenThatStaysRefusedIsNotSentAgainAndAgain) {
  write_token("old");
  stores::setup with = settings("a");
  with.secure.token_file = folder_ / "token";
  auto a = join(with);
  const stores::grant held = a->hold();
  fake_.on("renew", status("403 Forbidden", "ACL not found"));
  const int before = fake_.count("renew");
  expect_unknown(words(a->renew(term(held.version))), "the token is unknown to Consul");
  EXPECT_EQ(fake_.count("renew"), before + 1);
}

}  // namespace
}  // namespace tenure::tests
