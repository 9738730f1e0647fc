#include "support.hpp"

namespace tenure::config::test {
namespace {

using settings::traffic;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

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
  EXPECT_THAT(problems_of(in), ElementsAre(StartsWith("TENURE_POD_ADDRESS: pod_address \"db-0\" is "
                                                      "not an IP address; give it from the")));
}

TEST(Kubernetes, EndpointsNeedTheAddressesOfThePod) {
  EXPECT_THAT(problems_of(in_a_pod({{"--traffic", "endpoints"}})),
              ElementsAre("pod_address is missing; give it from the downward API: the variable "
                          "TENURE_POD_ADDRESS with fieldPath status.podIPs"));
}

TEST(Kubernetes, LeasesOfThePodsOwnClusterAreKnown) {
  inputs in = in_a_pod({{"--events", "true"}});
  in.flags = {{"--store", "kubernetes"}, {"--election", "db"}, {"--events", "true"}};
  EXPECT_TRUE(good(in).kubernetes.has_leases);
  in.flags.emplace_back("--endpoint", "https://other.example");
  EXPECT_FALSE(good(in).kubernetes.has_leases) << "the leases of another cluster";
}

TEST(Kubernetes, OutsideOfAPodThereIsNothingToWriteTo) {
  EXPECT_THAT(
      problems_of(with_flags({{"--traffic", "gate"}})),
      ElementsAre("--traffic: traffic is gate, and this is not a pod with a token for its API "
                  "server; remove it, or let the pod have the token of its ServiceAccount "
                  "(automountServiceAccountToken)"));
  EXPECT_THAT(problems_of(with_flags({{"--events", "true"}})),
              ElementsAre(StartsWith("--events: events is true, and this is not a pod")));
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

TEST(Kubernetes, OnePodIsShownAsActiveForOneElection) {
  EXPECT_THAT(problems_of(in_a_pod({{"--traffic", "label"}, {"--election", "other"}})),
              ElementsAre("--traffic: traffic is label, and there are 2 elections: a pod is shown "
                          "as active for one; give one election to this agent"));
  EXPECT_THAT(problems_of(in_a_pod({{"--traffic", "gate"}, {"--slots", "2"}})),
              ElementsAre("--traffic: traffic is gate, and slots is 2: one pod is shown as active, "
                          "not several; give --slots 1, or --traffic probe"));
  EXPECT_THAT(problems_of(in_a_pod({{"--traffic", "label"}, {"--observe", "true"}})),
              ElementsAre(HasSubstr("an observer is never active")));
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
  EXPECT_THAT(problems_of(in_a_pod({{"--traffic-slice", "a"}})),
              ElementsAre("--traffic-slice: traffic_slice is given, and traffic is probe; give "
                          "--traffic endpoints, or remove it"));
}

TEST(Kubernetes, NamesAreThoseOfKubernetes) {
  for (const char* bad : {"db_0", "-db", "db-", "a..b", "a.-b", "a-.b", "DB"}) {
    EXPECT_THAT(
        problems_of(in_a_pod({{"--pod-name", bad}})),
        ElementsAre(HasSubstr("is not a name in Kubernetes; give it from the downward API")))
        << bad;
  }
  inputs in = in_a_pod({});
  in.in_pod->host_name = "My_Laptop";
  EXPECT_THAT(problems_of(in), IsEmpty()) << "nothing needs it";
  in.flags.emplace_back("--events", "true");
  EXPECT_THAT(problems_of(in), ElementsAre(HasSubstr("pod_name \"My_Laptop\" is not a name")));
  in.in_pod->host_name = "db-0";
  in.in_pod->name_space = "";
  EXPECT_THAT(problems_of(in), ElementsAre(StartsWith("pod_namespace is missing; give it from")));
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
    EXPECT_THAT(problems_of(in), ElementsAre(HasSubstr("cannot be the name of a Lease"))) << name;
    inputs other = in;
    other.flags = {{"--store", "etcd"}, {"--endpoint", "http://127.0.0.1:1"}};
    EXPECT_THAT(problems_of(other), IsEmpty()) << name;
  }
}

}  // namespace
}  // namespace tenure::config::test
