#include <algorithm>

#include "support.hpp"

namespace tenure::config::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
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
  EXPECT_THAT(problems_of(in), ElementsAre(HasSubstr("nothing would be encrypted")))
      << "our own setting is a mistake there";
}

TEST(Sources, ATokenInAVariableIsWarnedOfAndNotUsed) {
  inputs in;
  in.host_name = "host-1";
  in.flags = {{"--store", "consul"}, {"--election", "db"}, {"--endpoint", "http://127.0.0.1:8500"}};
  EXPECT_THAT(good(in).warnings, IsEmpty());
  in.has_consul_token = true;
  const configuration warned = good(in);
  EXPECT_EQ(warned.secure.token_file, "");
  ASSERT_EQ(warned.warnings.size(), 1U);
  EXPECT_THAT(render(warned.warnings.front()),
              testing::AllOf(StartsWith("CONSUL_HTTP_TOKEN"), HasSubstr("--token-file")));
  in.flags.emplace_back("--token-file", "/run/token");
  EXPECT_THAT(good(in).warnings, IsEmpty());
  inputs other = minimal();
  other.has_consul_token = true;
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
  EXPECT_THAT(problems_of(in), ElementsAre(HasSubstr("does not say whether to use TLS")))
      << "a wrong endpoint is not replaced";
}

TEST(Sources, WhatAPodKnowsIsForTheStoreKubernetesAlone) {
  for (const char* store : {"sqlite", "etcd", "consul"}) {
    EXPECT_THAT(problems_of(in_a_pod(store)), ElementsAre(StartsWith("endpoint is missing")))
        << store;
  }
  inputs in = in_a_pod("etcd");
  in.flags.emplace_back("--endpoint", "https://etcd.example");
  EXPECT_EQ(good(in).secure, security());
}

TEST(Sources, OnlyVariablesThatMayBeSettingsNeedToBeRead) {
  EXPECT_TRUE(may_be_setting("TENURE_TTL"));
  EXPECT_TRUE(may_be_setting("K8S_AWAIT_ELECTION_ENABLED"));
  EXPECT_TRUE(may_be_setting("CONSUL_HTTP_ADDR"));
  EXPECT_FALSE(may_be_setting("CONSUL_HTTP_TOKEN")) << "a secret that nothing here needs";
  EXPECT_FALSE(may_be_setting("PATH"));
}

TEST(Sources, OurOwnVariableWinsOverTheWrappersAndAFlagOverBoth) {
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
  EXPECT_THAT(problems_of(in), ElementsAre(StartsWith("K8S_AWAIT_ELECTION_STATUS_ENDPOINT: ")));
}

TEST(Sources, ABadValueIsAProblemEvenWhereItIsOverridden) {
  inputs in = with_flags({{"--ttl", "18s"}, {"--slots", "0"}});
  in.file = file{"tenure.yaml", "ttl: 15\n"};
  in.environment = {{"TENURE_TTL", "x"}};
  EXPECT_THAT(problems_of(in),
              ElementsAre(StartsWith("tenure.yaml:1:6: ttl is"), StartsWith("TENURE_TTL: ttl is"),
                          StartsWith("--slots: slots is")));
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
  EXPECT_THAT(problems_of(with_flags({{"--killbudget", "1s"}})),
              ElementsAre(R"(--killbudget: unknown flag; did you mean "--kill-budget"?)"));
  EXPECT_THAT(problems_of(with_flags({{"-x", "1s"}})), ElementsAre("-x: unknown flag"));
  EXPECT_THAT(problems_of(with_flags({{"", ""}})), ElementsAre("unknown flag"));
  EXPECT_THAT(problems_of(with_flags({{"--ttl", "2s"}, {"--ttl", "3s"}})),
              ElementsAre("--ttl: ttl is given twice; remove one"));
}

TEST(Environment, UnknownVariablesOfOursAreRefused) {
  EXPECT_THAT(
      problems_of(with_environment({{"TENURE_KILLBUDGET", "1s"}})),
      ElementsAre(
          "TENURE_KILLBUDGET: there is no setting for this environment variable; did you mean "
          "\"TENURE_KILL_BUDGET\"?"));
  EXPECT_THAT(problems_of(with_environment({{"TENURE_", "1s"}})),
              ElementsAre(HasSubstr("unset it")));
  EXPECT_THAT(problems_of(with_environment({{"TENURE_TTL", ""}})),
              ElementsAre("TENURE_TTL: ttl has no value; give one, or unset the variable"));
  EXPECT_THAT(problems_of(with_environment({{"TENURE_ENDPOINT", "/a,"}})),
              ElementsAre(HasSubstr("endpoint is empty")));
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
    EXPECT_THAT(problems_of(with_environment({{name, "4040"}})),
                ElementsAre(HasSubstr("no setting")))
        << name;
  }
}

}  // namespace
}  // namespace tenure::config::test
