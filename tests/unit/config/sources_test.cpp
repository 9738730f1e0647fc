#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>

#include "config/other_tools.hpp"
#include "support.hpp"

namespace tenure::config::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using tests::expect_golden;
using namespace std::chrono_literals;

TEST(Sources, AFlagWinsOverTheEnvironmentThatOverTheFileThatOverTheDefault) {
  inputs in = minimal();
  EXPECT_EQ(good(in).timing.ttl, 15s);
  EXPECT_EQ(good(in).origin_of(setting::ttl), origin());
  in.file = file{"tenure.yaml", "slots: 2\nttl: 16s\n"};
  EXPECT_EQ(good(in).timing.ttl, 16s);
  EXPECT_EQ(good(in).origin_of(setting::ttl), (origin{source::file, "tenure.yaml:2:1"}));
  in.environment = {{"TENURE_TTL", "17s"}};
  EXPECT_EQ(good(in).timing.ttl, 17s);
  EXPECT_EQ(good(in).origin_of(setting::ttl), (origin{source::environment, "TENURE_TTL"}));
  in.flags.emplace_back("--ttl", "18s");
  EXPECT_EQ(good(in).timing.ttl, 18s);
  EXPECT_EQ(good(in).origin_of(setting::ttl), (origin{source::flag, "--ttl"}));
}

TEST(Sources, TheOrderOfSuccessionIsSetByFileVariableAndFlag) {
  inputs in = with_file("priority: -1\nprefer_newer: true\n");
  EXPECT_EQ(good(in).succeeds.priority, -1);
  EXPECT_TRUE(good(in).succeeds.prefer_newer);
  EXPECT_FALSE(good(in).succeeds.preempt);
  in.environment = {
      {"TENURE_PRIORITY", "-7"}, {"TENURE_PREFER_NEWER", "false"}, {"TENURE_PREEMPT", "true"}};
  EXPECT_EQ(good(in).succeeds.priority, -7);
  EXPECT_FALSE(good(in).succeeds.prefer_newer);
  EXPECT_TRUE(good(in).succeeds.preempt);
  in.flags.insert(in.flags.end(),
                  {{"--priority", "1000000"}, {"--prefer-newer", "true"}, {"--preempt", "false"}});
  EXPECT_EQ(good(in).succeeds.priority, 1'000'000);
  EXPECT_TRUE(good(in).succeeds.prefer_newer);
  EXPECT_FALSE(good(in).succeeds.preempt);
}

TEST(Sources, VariablesOfTheAwaitElectionWrapperAreUnderstoodWhereItIsEnabled) {
  inputs in = minimal();
  std::erase_if(in.flags, [](const auto& flag) { return flag.first == "--election"; });
  in.environment = {{"K8S_AWAIT_ELECTION_LOCK_NAME", "controller"},
                    {"K8S_AWAIT_ELECTION_IDENTITY", "pod-7"},
                    {"K8S_AWAIT_ELECTION_STATUS_ENDPOINT", ":9999"},
                    {"K8S_AWAIT_ELECTION_LOCK_NAMESPACE", "prod"},
                    {"K8S_AWAIT_ELECTION_NAME", "my election"}};
  EXPECT_THAT(problems_of(in), testing::Not(IsEmpty()))
      << "it is not enabled: no election is named";
  in.environment.emplace_back("K8S_AWAIT_ELECTION_ENABLED", "1");
  const configuration s = good(in);
  EXPECT_THAT(s.elections, ElementsAre(election{"controller", 1}));
  EXPECT_EQ(s.identity, "pod-7");
  EXPECT_EQ(text(s.probe_listen), "0.0.0.0:9999");
  EXPECT_EQ(s.origin_of(setting::identity),
            (origin{source::environment, "K8S_AWAIT_ELECTION_IDENTITY"}));
}

/// What each variable of another tool does here.
struct foreign_case {
  const char* name;
  const char* content;
  std::optional<setting> gives;  ///< nothing: see `refused`
  const char* shown = "";        ///< as which value
  const char* refused = "";      ///< with which words; empty: it changes nothing
};
constexpr std::array foreign_cases{
    foreign_case{"CONSUL_HTTP_ADDR", "consul:8501", setting::endpoint, "http://consul:8501"},
    foreign_case{"CONSUL_HTTP_SSL", "yes", {}, "", "is neither true nor false"},
    foreign_case{"CONSUL_HTTP_SSL_VERIFY", "false", {}, "", "always verifies"},
    foreign_case{"CONSUL_HTTP_TOKEN_FILE", "/run/token", setting::token_file, "/run/token"},
    foreign_case{"CONSUL_HTTP_TOKEN", "(not read)", {}, "", ""},
    foreign_case{"CONSUL_HTTP_AUTH", "(not read)", {}, "", "with a token alone"},
    foreign_case{"CONSUL_CACERT", "/ca.pem", setting::ca_file, "/ca.pem"},
    foreign_case{"CONSUL_CAPATH", "/cas", {}, "", "one file of them"},
    foreign_case{"CONSUL_CLIENT_CERT", "/c.pem", setting::certificate_file, "/c.pem"},
    foreign_case{"CONSUL_CLIENT_KEY", "/c.key", setting::key_file, "/c.key"},
    foreign_case{"CONSUL_TLS_SERVER_NAME", "consul", setting::server_name, "consul"},
    foreign_case{"CONSUL_NAMESPACE", "team", setting::name_space, "team"},
    foreign_case{"CONSUL_PARTITION", "east", setting::partition, "east"},
    foreign_case{"K8S_AWAIT_ELECTION_ENABLED", "1", {}, "", ""},
    foreign_case{"K8S_AWAIT_ELECTION_NAME", "my election", {}, "", ""},
    foreign_case{"K8S_AWAIT_ELECTION_LOCK_NAME", "svc", setting::election, "svc"},
    foreign_case{"K8S_AWAIT_ELECTION_LOCK_NAMESPACE", "infra", setting::name_space, "infra"},
    foreign_case{"K8S_AWAIT_ELECTION_IDENTITY", "pod-7", setting::identity, "pod-7"},
    foreign_case{"K8S_AWAIT_ELECTION_STATUS_ENDPOINT", ":9999", setting::probe_listen,
                 "0.0.0.0:9999"},
    foreign_case{"K8S_AWAIT_ELECTION_SERVICE_NAME", "svc", {}, "", "docs/traffic.md"},
    foreign_case{"K8S_AWAIT_ELECTION_SERVICE_NAMESPACE", "infra", {}, "", ""},
    foreign_case{"K8S_AWAIT_ELECTION_SERVICE_PORTS_JSON", "[]", {}, "", ""},
    foreign_case{"K8S_AWAIT_ELECTION_POD_IP", "::1", setting::pod_address, "\n  - \"::1\""},
    foreign_case{"K8S_AWAIT_ELECTION_NODE_NAME", "node-1", setting::pod_node, "node-1"}};

/// As a member of the tool that has the variable, with nothing but what is needed.
inputs of_tool(other_tool tool) {
  inputs in;
  in.host_name = "host-1";
  if (tool == other_tool::consul) {
    in.flags = {{"--store", "consul"}, {"--election", "db"}};
    in.environment = {{"CONSUL_HTTP_ADDR", "consul.example:8501"},
                      {"CONSUL_HTTP_SSL", "true"},
                      {"CONSUL_CLIENT_CERT", "/c.pem"},
                      {"CONSUL_CLIENT_KEY", "/c.key"}};
  } else {
    in.flags = {{"--store", "kubernetes"}, {"--endpoint", "http://127.0.0.1:1"}};
    in.environment = {{"K8S_AWAIT_ELECTION_ENABLED", "1"},
                      {"K8S_AWAIT_ELECTION_LOCK_NAME", "controller"}};
  }
  return in;
}

void set(inputs& in, const std::string& name, const std::string& content) {
  std::erase_if(in.environment, [&](const auto& one) { return one.first == name; });
  in.environment.emplace_back(name, content);
}

TEST(Sources, EachVariableOfAnotherToolMeansTheSameHereOrIsRefused) {
  ASSERT_EQ(other_variables().size(), foreign_cases.size());
  for (std::size_t i = 0; i < foreign_cases.size(); ++i) {
    const foreign_case& one = foreign_cases[i];
    ASSERT_EQ(other_variables()[i].name, one.name);
    SCOPED_TRACE(one.name);
    inputs in = of_tool(other_variables()[i].of);
    set(in, one.name, one.content);
    if (one.gives == setting::endpoint) set(in, "CONSUL_HTTP_SSL", "0");
    if (*one.refused != '\0') {
      EXPECT_THAT(problems_of(in),
                  ElementsAre(testing::AllOf(StartsWith(one.name), HasSubstr(one.refused))));
      continue;
    }
    const configuration s = good(in);
    if (!one.gives) continue;
    const field& f = field_of(*one.gives);
    EXPECT_EQ(f.in.shown(s, f), one.shown);
    EXPECT_EQ(s.origin_of(f.which), (origin{source::environment, one.name}));
  }
}

/// The name of each stands in the pages for those who come from that tool.
TEST(Sources, EachVariableOfAnotherToolIsInTheDocs) {
  std::string pages;
  for (const char* page : {"consul.md", "commands.md"}) {
    std::ifstream in(std::string(TENURE_DOCS) + "/" + page);
    pages.append(std::istreambuf_iterator<char>(in), {});
  }
  for (const other_variable& one : other_variables()) {
    EXPECT_THAT(pages, HasSubstr("`" + std::string(one.name) + "`"));
  }
}

TEST(Sources, TheSchemeOfConsulsAddressIsThatOfTheCommandConsul) {
  inputs in;
  in.host_name = "host-1";
  in.flags = {{"--store", "consul"}, {"--election", "db"}};
  struct way {
    const char* address;
    const char* tls;
    const char* asked;
  };
  constexpr std::array ways{
      way{"a:1", "", "http://a:1"},          way{"a:1", "0", "http://a:1"},
      way{"a:1", "f", "http://a:1"},         way{"a:1", "T", "https://a:1"},
      way{"a:1", "1", "https://a:1"},        way{"http://a:1", "true", "https://a:1"},
      way{"https://a:1", "", "https://a:1"}, way{"https://a:1", "false", "https://a:1"},
      way{"unix:///s", "true", "unix:/s"},   way{"[fd00::1]:8500", "", "http://[fd00::1]:8500"}};
  for (const way& one : ways) {
    in.environment = {{"CONSUL_HTTP_ADDR", one.address}, {"CONSUL_HTTP_SSL", one.tls}};
    EXPECT_THAT(good(in).endpoints, ElementsAre(one.asked)) << one.address << " " << one.tls;
  }
  for (const char* word : {"yes", "on", "TrUe", "2"}) {
    in.environment = {{"CONSUL_HTTP_ADDR", "a:1"}, {"CONSUL_HTTP_SSL", word}};
    expect_golden(problems_of(in));
  }
  for (const char* address : {"consul.example", "http://consul.example", "[fd00::1]"}) {
    in.environment = {{"CONSUL_HTTP_ADDR", address}};
    expect_golden(problems_of(in));
  }
}

TEST(Sources, TheNamespaceOfAWrappersLeaseIsWarnedOfWhereTheStoreHasNone) {
  inputs in = minimal();
  in.environment = {{"K8S_AWAIT_ELECTION_ENABLED", "1"},
                    {"K8S_AWAIT_ELECTION_LOCK_NAMESPACE", "infra"}};
  ASSERT_EQ(good(in).warnings.size(), 1U);
  expect_golden(render(good(in).warnings.front()));
}

TEST(Sources, AVariableThatTheWrapperMayHaveLaterIsRefused) {
  inputs in = minimal();
  in.environment = {{"K8S_AWAIT_ELECTION_ENABLED", "1"},
                    {"K8S_AWAIT_ELECTION_LOCK_KIND", "ConfigMap"},
                    {"K8S_AWAIT_ELECTION_SERVICE_HOST", "10.0.0.1"}};
  expect_golden(problems_of(in));
}

TEST(Sources, VariablesOfTheCommandConsulAreUnderstoodForConsulAlone) {
  inputs in;
  in.host_name = "host-1";
  in.flags = {{"--store", "consul"}, {"--election", "db"}};
  in.environment = {{"CONSUL_HTTP_ADDR", "consul.example:8501"},
                    {"CONSUL_HTTP_SSL", "true"},
                    {"CONSUL_HTTP_TOKEN_FILE", "/run/token"},
                    {"CONSUL_CACERT", "/ca.pem"},
                    {"CONSUL_HTTP_TOKEN", "secret"},
                    {"CONSUL_NAMESPACE", "team"}};
  const configuration s = good(in);
  EXPECT_THAT(s.endpoints, ElementsAre("https://consul.example:8501"));
  EXPECT_EQ(s.secure.token_file, "/run/token");
  EXPECT_EQ(s.secure.ca_file, "/ca.pem");
  EXPECT_EQ(s.name_space, "team");
  EXPECT_EQ(s.origin_of(setting::endpoint), (origin{source::environment, "CONSUL_HTTP_ADDR"}));
  in.flags.emplace_back("--endpoint", "https://other");
  EXPECT_THAT(good(in).endpoints, ElementsAre("https://other"));
  in.environment = {{"CONSUL_HTTP_ADDR", "unix:///run/consul.sock"}};
  in.flags.pop_back();
  EXPECT_THAT(good(in).endpoints, ElementsAre("unix:/run/consul.sock"));

  inputs other = minimal();
  other.environment = {{"CONSUL_HTTP_TOKEN_FILE", "/run/token"}};
  EXPECT_EQ(good(other).secure.token_file, "");
}

/// As the command `consul`: on many machines they are set for all programs.
TEST(Sources, WhatConsulsVariablesSayOfTlsDoesNotMatterToAPlainEndpoint) {
  inputs in;
  in.host_name = "host-1";
  in.flags = {{"--store", "consul"}, {"--election", "db"}};
  in.environment = {{"CONSUL_HTTP_ADDR", "http://127.0.0.1:8500"},
                    {"CONSUL_CACERT", "/ca.pem"},
                    {"CONSUL_CLIENT_CERT", "/c.pem"},
                    {"CONSUL_CLIENT_KEY", "/c.key"},
                    {"CONSUL_TLS_SERVER_NAME", "consul"}};
  EXPECT_EQ(good(in).secure, security());
  in.flags.emplace_back("--endpoint", "https://consul.example:8501");
  EXPECT_EQ(good(in).secure.ca_file, "/ca.pem");
  EXPECT_EQ(good(in).secure.certificate_file, "/c.pem");
  in.flags.back().second = "http://127.0.0.1:8500";
  in.flags.emplace_back("--ca-file", "/own.pem");
  expect_golden(problems_of(in));
}

TEST(Sources, ATokenInAVariableIsWarnedOfAndNotUsed) {
  inputs in;
  in.host_name = "host-1";
  in.flags = {{"--store", "consul"}, {"--election", "db"}, {"--endpoint", "http://127.0.0.1:8500"}};
  EXPECT_THAT(good(in).warnings, IsEmpty());
  in.environment = {{"CONSUL_HTTP_TOKEN", "(not read)"}};
  const configuration warned = good(in);
  EXPECT_EQ(warned.secure.token_file, "");
  ASSERT_EQ(warned.warnings.size(), 1U);
  expect_golden(render(warned.warnings.front()));
  in.flags.emplace_back("--token-file", "/run/token");
  EXPECT_THAT(good(in).warnings, IsEmpty());
  inputs other = minimal();
  other.environment = in.environment;
  EXPECT_THAT(good(other).warnings, IsEmpty());
}

inputs in_a_pod(const std::string& store) {
  inputs in;
  in.host_name = "host-1";
  in.flags = {{"--store", store}, {"--election", "db"}};
  in.in_pod = pod{.endpoint = "https://[fd00::1]:443", .folder = "/sa", .name_space = "team"};
  return in;
}

TEST(Sources, APodKnowsTheApiServerItsTokenItsCaAndItsNamespace) {
  const configuration s = good(in_a_pod("kubernetes"));
  EXPECT_THAT(s.endpoints, ElementsAre("https://[fd00::1]:443"));
  EXPECT_EQ(s.secure, (security{.ca_file = "/sa/ca.crt", .token_file = "/sa/token"}));
  EXPECT_EQ(s.name_space, "team");
  for (const setting which :
       {setting::endpoint, setting::token_file, setting::ca_file, setting::name_space}) {
    EXPECT_EQ(s.origin_of(which), (origin{source::environment, "KUBERNETES_SERVICE_HOST"}));
  }
  EXPECT_THAT(s.warnings, IsEmpty());
}

TEST(Sources, WhatIsGivenWinsOverWhatAPodKnows) {
  inputs in = in_a_pod("kubernetes");
  in.file = file{"tenure.yaml", "namespace: other\n"};
  in.environment = {{"TENURE_TOKEN_FILE", "/t"}};
  const configuration s = good(in);
  EXPECT_THAT(s.endpoints, ElementsAre("https://[fd00::1]:443"));
  EXPECT_EQ(s.secure, (security{.ca_file = "/sa/ca.crt", .token_file = "/t"}));
  EXPECT_EQ(s.name_space, "other");
  in.in_pod->name_space = "";
  in.file.reset();
  EXPECT_EQ(good(in).name_space, "") << "the pod does not say";
}

TEST(Sources, ATokenOfAPodIsForItsOwnApiServerAlone) {
  inputs in = in_a_pod("kubernetes");
  in.flags.emplace_back("--endpoint", "https://other.example");
  const configuration s = good(in);
  EXPECT_THAT(s.endpoints, ElementsAre("https://other.example"));
  EXPECT_EQ(s.secure, security());
  EXPECT_EQ(s.name_space, "");
  in.flags.back().second = "other.example";
  expect_golden(problems_of(in));
}

TEST(Sources, WhatAPodKnowsIsForTheStoreKubernetesAlone) {
  for (const char* store : {"sqlite", "etcd", "consul"}) {
    expect_golden(problems_of(in_a_pod(store)));
  }
  inputs in = in_a_pod("etcd");
  in.flags.emplace_back("--endpoint", "https://etcd.example");
  EXPECT_EQ(good(in).secure, security());
}

TEST(Sources, OnlyVariablesThatMayBeSettingsNeedToBeRead) {
  EXPECT_TRUE(may_be_setting("TENURE_TTL"));
  EXPECT_TRUE(may_be_setting("K8S_AWAIT_ELECTION_ENABLED"));
  EXPECT_TRUE(may_be_setting("CONSUL_HTTP_ADDR"));
  EXPECT_TRUE(may_be_setting("CONSUL_HTTP_TOKEN")) << "that it is set has to be said";
  EXPECT_FALSE(may_be_setting("PATH"));
}

TEST(Sources, WhatOfOursGivesASettingWinsOverTheWrappersVariable) {
  inputs in = minimal();
  in.environment = {{"K8S_AWAIT_ELECTION_ENABLED", "1"},
                    {"K8S_AWAIT_ELECTION_LOCK_NAME", "controller"},
                    {"K8S_AWAIT_ELECTION_IDENTITY", "pod-7"},
                    {"TENURE_IDENTITY", "mine"}};
  EXPECT_EQ(good(in).identity, "mine");
  EXPECT_THAT(good(in).elections, testing::Not(ElementsAre(election{"controller", 1})))
      << "a flag names the election";
}

TEST(Sources, WhatIsWrongInAWrappersVariableIsSaidByItsName) {
  inputs in = minimal();
  in.environment = {{"K8S_AWAIT_ELECTION_ENABLED", "1"},
                    {"K8S_AWAIT_ELECTION_STATUS_ENDPOINT", "everywhere"}};
  expect_golden(problems_of(in));
}

TEST(Sources, NothingElseIsSaidOfASettingThatIsMisspelt) {
  inputs in;
  in.host_name = "host-1";
  in.flags = {{"--store", "etcd"}, {"--election", "db"}, {"--endpiont", "http://a"}};
  expect_golden(problems_of(in));
  in.flags.pop_back();
  in.environment = {{"TENURE_ENDPIONT", "http://a"}};
  expect_golden(problems_of(in));
}

TEST(Sources, ABadValueIsAProblemEvenWhereItIsOverridden) {
  inputs in = with_flags({{"--ttl", "18s"}, {"--slots", "0"}});
  in.file = file{"tenure.yaml", "ttl: 15\n"};
  in.environment = {{"TENURE_TTL", "x"}};
  expect_golden(problems_of(in));
}

TEST(Sources, ListsReplaceEachOther) {
  inputs in = with_file("election: from-file\n");
  in.flags.pop_back();
  EXPECT_THAT(good(in).elections, ElementsAre(election{"from-file", 1}));
  in.file = file{"tenure.yaml", "elections: [{name: from-file, slots: 4}]\n"};
  EXPECT_THAT(good(in).elections, ElementsAre(election{"from-file", 4}));
  in.environment = {{"TENURE_ELECTION", "a,b"}};
  EXPECT_THAT(good(in).elections, ElementsAre(election{"a", 1}, election{"b", 1}));
  in.flags.insert(in.flags.end(), {{"--election", "c"}, {"--election", "d"}, {"--slots", "2"}});
  EXPECT_THAT(good(in).elections, ElementsAre(election{"c", 2}, election{"d", 2}));
}

TEST(Sources, EveryFlagAndVariableOfTheTableIsKnown) {
  for (const field& f : fields()) {
    if (f.flag.empty()) continue;
    const inputs by_flag = with_flags({{std::string(f.flag), "\x01"}});
    const inputs by_variable = with_environment({{std::string(f.environment), "\x01"}});
    const bool twice = f.which == setting::store;  // the minimal configuration gives it as a flag
    // What may be a secret in the wrong place is not repeated.
    const bool silent = f.type == field_type::path || f.type == field_type::user;
    const auto refused = HasSubstr(silent ? std::string(f.key) + " " : R"("\u0001")");
    EXPECT_THAT(problems_of(by_flag), ElementsAre(twice ? HasSubstr("given twice") : refused))
        << f.flag;
    EXPECT_THAT(problems_of(by_variable), ElementsAre(refused)) << f.environment;
  }
}

TEST(Sources, NamesOfOneSettingFollowFromItsKey) {
  for (const field& f : fields()) {
    if (f.flag.empty()) continue;
    std::string flag = "--" + std::string(f.key);
    std::ranges::replace(flag, '_', '-');
    std::string variable = "TENURE_" + std::string(f.key);
    std::ranges::transform(variable, variable.begin(),
                           [](char c) { return static_cast<char>(std::toupper(c)); });
    EXPECT_EQ(f.flag, flag);
    EXPECT_EQ(f.environment, variable);
  }
}

TEST(Flags, UnknownOrRepeatedOnesAreRefused) {
  expect_golden(problems_of(with_flags({{"--killbudget", "1s"}})));
  expect_golden(problems_of(with_flags({{"-x", "1s"}})));
  expect_golden(problems_of(with_flags({{"", ""}})));
  expect_golden(problems_of(with_flags({{"--ttl", "2s"}, {"--ttl", "3s"}})));
}

TEST(Environment, UnknownVariablesOfOursAreRefused) {
  expect_golden(problems_of(with_environment({{"TENURE_KILLBUDGET", "1s"}})));
  expect_golden(problems_of(with_environment({{"TENURE_", "1s"}})));
  expect_golden(problems_of(with_environment({{"TENURE_TTL", ""}})));
  expect_golden(problems_of(with_environment({{"TENURE_ENDPOINT", "/a,"}})));
  EXPECT_THAT(problems_of(with_environment({{"PATH", "/bin"}, {"TENURED", "x"}})), IsEmpty());
}

TEST(Environment, WhatTenureGivesToAWorkloadIsNoSetting) {
  EXPECT_THAT(problems_of(with_environment({{"TENURE_API", "http://127.0.0.1:4040"},
                                            {"TENURE_VERSION", "7"},
                                            {"TENURE_SEQUENCER", "x"},
                                            {"TENURE_PAGE", "/run/x"},
                                            {"TENURE_GUARD_FDS", "3,4"},
                                            {"TENURE_RUN", "x.1"},
                                            {"TENURE_CONFIG", "/etc/tenure.yaml"}})),
              IsEmpty());
}

TEST(Environment, WhatKubernetesMakesForAServiceNamedTenureIsNoSetting) {
  for (const char* service : {"TENURE", "TENURE_API", "TENURE_LISTEN"}) {
    const std::string name = service;
    EXPECT_THAT(problems_of(with_environment({{name + "_SERVICE_HOST", "10.0.0.1"},
                                              {name + "_SERVICE_PORT", "8081"},
                                              {name + "_SERVICE_PORT_PROBES", "8081"},
                                              {name + "_PORT", "tcp://10.0.0.1:8081"},
                                              {name + "_PORT_8081_TCP", "tcp://10.0.0.1:8081"},
                                              {name + "_PORT_8081_TCP_PROTO", "tcp"},
                                              {name + "_PORT_8081_TCP_PORT", "8081"},
                                              {name + "_PORT_8081_TCP_ADDR", "10.0.0.1"},
                                              {name + "_PORT_53_UDP_ADDR", "10.0.0.1"}})),
                IsEmpty());
  }
  for (const char* name : {"TENURE_PORT", "TENURE_PORT_TCP", "TENURE_PORT_X_TCP", "TENURE_TCP"}) {
    expect_golden(problems_of(with_environment({{name, "4040"}})));
  }
}

}  // namespace
}  // namespace tenure::config::test
