// Where in Consul the leases are: its datacenters, and the namespaces and partitions of its
// Enterprise edition, of which there is no server here.

#include "hostile_scene.hpp"
#include "servers/server_process.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

/// A server of datacenter dc2 on a node that no other datacenter has.
class server_of_dc2 {
 public:
  server_of_dc2(const servers::server_release& release, const std::string& wan_port)
      : endpoint_("http://127.0.0.1:" + std::to_string(http_port_)),
        process_({release.binary, "agent", "-server", "-bootstrap-expect=1", "-datacenter=dc2",
                  "-node=elsewhere", "-data-dir=" + (folder_ / "data").string(), "-bind=127.0.0.1",
                  "-client=127.0.0.1", "-http-port=" + std::to_string(http_port_),
                  "-server-port=" + std::to_string(servers::free_port()),
                  "-serf-lan-port=" + std::to_string(servers::free_port()),
                  "-serf-wan-port=" + wan_port, "-dns-port=-1", "-disable-host-node-id",
                  "-log-level=err", "-hcl=performance { raft_multiplier = 1 }",
                  release.name == "debian" ? "-hcl=disable_update_check = true"
                                           : "-hcl=ports { grpc_tls = -1 }"}) {}

  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }

 private:
  temporary_directory folder_;
  std::uint16_t http_port_ = servers::free_port();
  std::string endpoint_;
  child process_;
};

class ConsulPlace : public ConsulScene {
 protected:
  std::string refusal_of(const stores::setup& with) {
    member one(loop_, with);
    const auto opened = one.open();
    return opened ? "it opened" : opened.error().text;
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, ConsulPlace, testing::ValuesIn(servers::consul_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ConsulPlace, ANamespaceOfTheCommunityEditionIsRefusedAtOpening) {
  start();
  stores::setup with = settings("a");
  with.name_space = "team";
  EXPECT_THAT(refusal_of(with), HasSubstr("namespaces exist in Consul Enterprise only"));
}

/// An old one ignores what it does not know, and keeps the locks elsewhere.
TEST_P(ConsulPlace, APartitionThatThisConsulDoesNotKnowIsRefusedAtOpening) {
  start();
  stores::setup with = settings("a");
  with.consul.partition = "edge";
  EXPECT_THAT(
      refusal_of(with),
      testing::AnyOf(HasSubstr("partitions exist in Consul Enterprise only"),
                     AllOf(HasSubstr("which knows no partitions"), HasSubstr("1.11 or later"))));
}

/// What Consul does itself with a session for another datacenter, and what we make of that.
TEST_P(ConsulPlace, TheDatacenterOfAnotherAgentIsRefusedAtOpening) {
  const std::string first = std::to_string(servers::free_port());
  const std::string second = std::to_string(servers::free_port());
  start({.flags = {"-serf-wan-port=" + first}});
  const server_of_dc2 other(GetParam(), second);
  const std::string join_them = "/v1/agent/join/127.0.0.1:" + second + "?wan=1";
  ASSERT_TRUE(eventually(loop_, [&] { return cluster_->call("PUT", join_them).status == 200; }));
  ASSERT_TRUE(eventually(loop_, [&] {
    return cluster_->call("GET", "/v1/catalog/nodes?dc=dc2").body.contains("elsewhere");
  }));
  const auto ours = cluster_->call("PUT", "/v1/session/create?dc=dc2", R"({"NodeChecks":[]})");
  EXPECT_THAT(ours.body, HasSubstr("Missing node registration"));

  stores::setup with = settings("a");
  with.consul.datacenter = "dc2";
  EXPECT_THAT(refusal_of(with), AllOf(HasSubstr("is an agent of datacenter dc1"),
                                      HasSubstr("give the address of an agent there")));
  with.endpoints = {other.endpoint()};
  join(with)->hold();
}

// Consul Enterprise, as its documentation describes it
// ---------------------------------------------

class ConsulInANamespace : public HostileConsul {
 protected:
  ConsulInANamespace() {
    fake_.on("self", R"({"Config":{"Datacenter":"dc1","Version":"1.21.0+ent"}})");
    fake_.serve_only("team", "edge");
  }
};

TEST_F(ConsulInANamespace, EachRequestAndEachOperationSaysSo) {
  for (const std::uint32_t slots : {1U, 2U}) {
    fake_.put("db0/.lock", "", 0);
    stores::setup with = settings("a", slots);
    with.name_space = "team";
    with.consul.partition = "edge";
    with.announce = true;
    auto a = join(with);
    const auto seen = a->watch();
    const stores::grant held = a->hold();
    EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
    ASSERT_TRUE(loop_.run_until([&] {
      return seen->shows([](const auto& o) { return o.members && !o.holders.empty(); });
    }));
    EXPECT_TRUE(a->leave_order({.id = std::to_string(slots),
                                .wanted = {.what = core::order_action::resign, .member = "a"},
                                .version = held.version}));
    EXPECT_EQ(words(a->release(0, held.version)), "released");
  }
}

TEST_F(ConsulInANamespace, TheFakeRefusesWhoDoesNotSaySo) {
  member a(loop_, settings("a"));
  EXPECT_FALSE(a.open());
}

}  // namespace
}  // namespace tenure::tests
