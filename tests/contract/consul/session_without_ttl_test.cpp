// Sessions without a TTL, which only a failed check or an operator ends: none is made that nobody
// needs, and a term goes on in one only if it is known to have none.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "consul_scene.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

class ConsulSessionWithoutTtl : public ConsulScene {
 protected:
  stores::setup endless(const std::string& identity) const {
    stores::setup out = settings(identity, 60s);
    out.consul.without_ttl = true;
    return out;
  }

  /// The ids of the sessions that keep leases of this member.
  [[nodiscard]] std::vector<std::string> sessions_of(const std::string& identity) const {
    std::vector<std::string> out;
    for (const json& one : json::parse(cluster_->call("GET", "/v1/session/list?consistent").body)) {
      if (one.at("Name") == "tenure " + identity) out.push_back(one.at("ID"));
    }
    std::ranges::sort(out);
    return out;
  }

  /// Empty: it has none.
  [[nodiscard]] std::string ttl_of(const std::string& session) const {
    return json::parse(cluster_->call("GET", "/v1/session/info/" + session).body)
        .at(0)
        .value("TTL", "");
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, ConsulSessionWithoutTtl,
                         testing::ValuesIn(servers::consul_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ConsulSessionWithoutTtl, IsNotKeptReadyByAStandby) {
  start();
  auto a = join(endless("a"));
  const stores::grant held = a->hold();
  stores::setup with = endless("b");
  with.announce = true;
  auto b = join(with);
  const auto seen = b->watch();
  // Its name is written after a session would have been asked for.
  ASSERT_TRUE(loop_.run_until(
      [&] { return seen->shows([](const auto& o) { return o.members.has_value(); }); }));
  b->close();
  EXPECT_THAT(sessions_of("b"), IsEmpty()) << "killed, it would leave it for ever";
  EXPECT_THAT(sessions_of("a"), ElementsAre(holder()));
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
}

TEST_P(ConsulSessionWithoutTtl, OfAnEarlierRunIsKeptSoThatNoneIsLeftBehind) {
  start();
  auto first = join(endless("a"));
  const stores::grant held = first->hold();
  const std::string session = holder();
  first->close();
  auto again = join(endless("a"));
  const stores::grant now = again->hold();
  EXPECT_EQ(now.version, held.version);
  EXPECT_EQ(holder(), session);
  EXPECT_THAT(sessions_of("a"), ElementsAre(session));
  EXPECT_EQ(words(again->renew(term(now.version))), "renewed");
  EXPECT_EQ(words(again->release(0, now.version)), "released");
}

/// The setting counts from the next start on, not from the next term on.
TEST_P(ConsulSessionWithoutTtl, TakesOverTheTermOfASessionThatHasOneAndTheOtherWayRound) {
  start();
  auto first = join(settings("a", 60s));
  const stores::grant held = first->hold();
  EXPECT_NE(ttl_of(holder()), "");
  first->close();
  auto second = join(endless("a"));
  EXPECT_EQ(second->hold().version, held.version);
  EXPECT_EQ(ttl_of(holder()), "");
  EXPECT_EQ(words(second->renew(term(held.version))), "renewed");
  second->close();
  auto third = join(settings("a", 60s));
  EXPECT_EQ(third->hold().version, held.version);
  EXPECT_NE(ttl_of(holder()), "");
  EXPECT_EQ(words(third->renew(term(held.version))), "renewed");
}

}  // namespace
}  // namespace tenure::tests
