#include "support.hpp"

namespace tenure::config::test {
namespace {

using settings::traffic;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using tests::expect_golden;

/// An agent in a pod, with a store that has nothing to do with Kubernetes.
inputs in_a_pod(std::vector<name_and_value> flags) {
  inputs in = with_flags(std::move(flags));
  in.in_pod = pod{.endpoint = "https://10.96.0.1:443",
                  .folder = "/sa",
                  .name_space = "team",
                  .host_name = "db-0"};
  return in;
}

TEST(Kubernetes, NothingIsWrittenByDefaultNotEvenInAPod) {
  EXPECT_FALSE(good(minimal()).kubernetes.is_used());
  EXPECT_FALSE(good(in_a_pod({})).kubernetes.is_used());
}

TEST(Kubernetes, APodKnowsItsClusterItsNameAndItsNamespaceWhateverTheStore) {
  const configuration s = good(in_a_pod({{"--traffic", "label"}}));
  EXPECT_EQ(s.kubernetes.traffic, traffic::label);
  EXPECT_EQ(s.kubernetes.pod_name, "db-0");
  EXPECT_EQ(s.kubernetes.pod_namespace, "team");
  EXPECT_EQ(s.kubernetes.cluster, (settings::pod_cluster{.endpoint = "https://10.96.0.1:443",
                                                         .ca_file = "/sa/ca.crt",
                                                         .token_file = "/sa/token"}));
  EXPECT_FALSE(s.kubernetes.has_leases);
  EXPECT_EQ(s.secure, security()) << "the store does not get the pod's token";
}

TEST(Kubernetes, WhatTheDownwardApiTellsWins) {
  const configuration s = good(in_a_pod({{"--events", "true"},
                                         {"--pod-name", "db-1"},
                                         {"--pod-namespace", "other"},
                                         {"--pod-uid", "u-1"},
                                         {"--pod-node", "n1.example"}}));
  EXPECT_TRUE(s.kubernetes.events);
  EXPECT_EQ(s.kubernetes.pod_name, "db-1");
  EXPECT_EQ(s.kubernetes.pod_namespace, "other");
  EXPECT_EQ(s.kubernetes.pod_uid, "u-1");
  EXPECT_EQ(s.kubernetes.pod_node, "n1.example");
}

TEST(Kubernetes, AddressesComeAsTheDownwardApiWritesThem) {
  inputs in = in_a_pod({{"--traffic", "endpoints"}});
  in.environment = {{"TENURE_POD_ADDRESS", "10.88.0.9,fd00::9"}};
  const configuration s = good(in);
  EXPECT_THAT(s.kubernetes.pod_addresses, ElementsAre("10.88.0.9", "fd00::9"));
  EXPECT_THAT(s.kubernetes.slices, ElementsAre("db")) << "as the election";
  in.environment = {{"TENURE_POD_ADDRESS", "10.88.0.9,db-0"}};
  expect_golden(problems_of(in));
}

TEST(Kubernetes, EndpointsNeedTheAddressesOfThePod) {
  expect_golden(problems_of(in_a_pod({{"--traffic", "endpoints"}})));
}

TEST(Kubernetes, LeasesOfThePodsOwnClusterAreKnown) {
  inputs in = in_a_pod({{"--events", "true"}});
  in.flags = {{"--store", "kubernetes"}, {"--election", "db"}, {"--events", "true"}};
  EXPECT_TRUE(good(in).kubernetes.has_leases);
  in.flags.emplace_back("--endpoint", "https://other.example");
  EXPECT_FALSE(good(in).kubernetes.has_leases) << "the leases of another cluster";
}

TEST(Kubernetes, OutsideOfAPodThereIsNothingToWriteTo) {
  expect_golden(problems_of(with_flags({{"--traffic", "gate"}})));
  expect_golden(problems_of(with_flags({{"--events", "true"}})));
  EXPECT_THAT(problems_of(with_flags({{"--traffic", "probe"}, {"--events", "false"}})), IsEmpty());
}

TEST(Kubernetes, AFileForAPodCanBeCheckedElsewhere) {
  inputs in = only_file(
      "store: etcd\nendpoint: http://e:2379\nelection: db\ntraffic: endpoints\nevents: true\n");
  in.file_alone = true;
  EXPECT_THAT(problems_of(in), IsEmpty());
  in.file_alone = false;
  in.partial = true;
  EXPECT_THAT(problems_of(in), IsEmpty()) << "tenure explain";
}

TEST(Kubernetes, TheKubeletIsBelievedOfWhatIsInTheGuardsContainerAlone) {
  const name_and_value asked{"--witness", "kubelet"};
  const name_and_value us{"--identity", "db-0"};
  EXPECT_TRUE(good(in_a_pod({asked, us})).kubernetes.has_witness());
  EXPECT_FALSE(good(in_a_pod({us})).kubernetes.is_used());
  expect_golden(problems_of(in_a_pod({asked, {"--identity", "db-7"}})));
  expect_golden(problems_of(in_a_pod({asked, us, {"--observe", "true"}})));
  expect_golden(problems_of(in_a_pod({asked,
                                      us,
                                      {"--gain-http", "http://127.0.0.1/gain"},
                                      {"--stop-http", "http://127.0.0.1/stop"}})));
  expect_golden(problems_of(in_a_pod({asked, us, {"--target-executable", "app"}})));
  expect_golden(problems_of(with_flags({asked, us})));
}

TEST(Kubernetes, OnePodIsShownAsActiveForOneElection) {
  expect_golden(problems_of(in_a_pod({{"--traffic", "label"}, {"--election", "other"}})));
  expect_golden(problems_of(in_a_pod({{"--traffic", "gate"}, {"--slots", "2"}})));
  expect_golden(problems_of(in_a_pod({{"--traffic", "label"}, {"--observe", "true"}})));
  EXPECT_THAT(problems_of(in_a_pod({{"--events", "true"}, {"--election", "other"}})), IsEmpty());
}

TEST(Kubernetes, PodsAreFoundByALabelSoTheElectionsNameMustBeOne) {
  const auto named = [](const std::string& way, const std::string& election) {
    inputs in = in_a_pod({{"--traffic", way}, {"--pod-address", "10.0.0.1"}});
    for (auto& [flag, given] : in.flags) {
      if (flag == "--election") given = election;
    }
    return problems_of(in);
  };
  for (const char* good_one : {"db", "Orders_1.eu"}) {
    EXPECT_THAT(named("label", good_one), IsEmpty()) << good_one;
  }
  for (const std::string& bad : {std::string("a/b"), std::string("a-"), std::string(64, 'a')}) {
    EXPECT_THAT(named("gate", bad), ElementsAre(HasSubstr("cannot be the value of a label")));
  }
  EXPECT_THAT(named("endpoints", "a/b"),
              ElementsAre("--traffic: traffic is endpoints, and no EndpointSlice can be called "
                          "\"a/b\", as the election is; give --traffic-slice NAME"));
  EXPECT_THAT(named("endpoints", std::string(64, 'a')), IsEmpty());
}

TEST(Kubernetes, SlicesAreOneForEachAddressFamily) {
  const auto problems = [](std::vector<name_and_value> more) {
    inputs in = in_a_pod({{"--traffic", "endpoints"}, {"--pod-address", "10.0.0.1"}});
    in.flags.insert(in.flags.end(), more.begin(), more.end());
    return problems_of(in);
  };
  EXPECT_THAT(problems({{"--traffic-slice", "db-v4"}, {"--traffic-slice", "db-v6"}}), IsEmpty());
  EXPECT_THAT(problems({{"--traffic-slice", "a"}, {"--traffic-slice", "a"}}),
              ElementsAre("--traffic-slice: traffic_slice \"a\" is given twice; remove one"));
  EXPECT_THAT(
      problems({{"--traffic-slice", "a"}, {"--traffic-slice", "b"}, {"--traffic-slice", "c"}}),
      ElementsAre(HasSubstr("has 3 values; give one name for each address family")));
  EXPECT_THAT(problems({{"--traffic-slice", "A"}}),
              ElementsAre(HasSubstr("traffic_slice \"A\" is not a name in Kubernetes")));
  expect_golden(problems_of(in_a_pod({{"--traffic-slice", "a"}})));
}

TEST(Kubernetes, NamesAreThoseOfKubernetes) {
  for (const char* bad : {"db_0", "-db", "db-", "a..b", "a.-b", "a-.b", "DB"}) {
    expect_golden(problems_of(in_a_pod({{"--pod-name", bad}})));
  }
  inputs in = in_a_pod({});
  in.in_pod->host_name = "My_Laptop";
  EXPECT_THAT(problems_of(in), IsEmpty()) << "nothing needs it";
  in.flags.emplace_back("--events", "true");
  expect_golden(problems_of(in));
  in.in_pod->host_name = "db-0";
  in.in_pod->name_space = "";
  expect_golden(problems_of(in));
}

TEST(Kubernetes, WhatIsInForceIsShown) {
  const std::string shown =
      effective(good(in_a_pod({{"--traffic", "endpoints"}, {"--pod-address", "10.0.0.1"}})));
  EXPECT_THAT(shown, AllOf(HasSubstr("\ntraffic: endpoints "), HasSubstr("\n  - db\n"),
                           HasSubstr("\nevents: false "), HasSubstr("\npod_name: db-0 "),
                           HasSubstr("\npod_namespace: team "), Not(HasSubstr("pod_uid"))));
  inputs again = in_a_pod({});
  again.file = file{"shown.yaml", shown};
  again.flags.clear();
  EXPECT_THAT(problems_of(again), IsEmpty());
}

TEST(Kubernetes, AnElectionIsNamedAsALeaseMayBe) {
  inputs in;
  in.host_name = "host-1";
  in.flags = {{"--store", "kubernetes"}, {"--endpoint", "http://127.0.0.1:1"}};
  for (const char* name : {"Web_X", "a/b", "db.slot-1", "a."}) {
    in.file = file{"tenure.yaml", "elections: [db, " + std::string(name) + "]\n"};
    expect_golden(problems_of(in));
    inputs other = in;
    other.flags = {{"--store", "etcd"}, {"--endpoint", "http://127.0.0.1:1"}};
    EXPECT_THAT(problems_of(other), IsEmpty()) << name;
  }
}

}  // namespace
}  // namespace tenure::config::test
