#include "runtime/doctor_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::runtime {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

settings::agent settings_with(core::timing_request asked = {}) {
  settings::agent out;
  out.store = "etcd";
  out.elections = {{.name = "db"}};
  out.timing = *core::resolve(asked);
  return out;
}

/// A sidecar beside a main container under a guard.
kube::pod_view sidecar_pod() {
  return {
      .containers = {{.name = "tenure",
                      .words = {"agent", "--guard-dir=/run/tenure"},
                      .mounts = {{.volume = "tenure-run", .path = "/run/tenure"}}},
                     {.name = "main",
                      .words = {"/tenure-bin/tenure", "guard", "--dir=/run/tenure", "--", "work"},
                      .mounts = {{.volume = "tenure-run", .path = "/run/tenure"}}}}};
}

finding of_check(const std::vector<finding>& all, const std::string& check) {
  for (const finding& one : all) {
    if (one.check == check) return one;
  }
  ADD_FAILURE() << "there is no finding " << check;
  return {};
}

finding grace_of(const kube::pod_view& pod, core::timing_request asked = {}) {
  return of_check(pod_findings(settings_with(asked), pod), "grace");
}

auto is(verdict result, const std::string& text, const std::string& action = "") {
  return AllOf(Field(&finding::result, result), Field(&finding::text, HasSubstr(text)),
               Field(&finding::action, HasSubstr(action)));
}

TEST(DoctorGrace, HoldsTheDrainAndFiveSecondsMore) {
  kube::pod_view pod{.grace_seconds = 14};
  EXPECT_THAT(grace_of(pod, {.drain = 10s}),
              is(verdict::warn, "terminationGracePeriodSeconds 14 is less than drain 10 s + 5 s",
                 "give at least 15"));
  pod.grace_seconds = 15;
  EXPECT_THAT(grace_of(pod, {.drain = 10s}), is(verdict::ok, "15 has room for drain 10 s"));
}

TEST(DoctorGrace, TheDrainIsThatOfTheGuardWhereThereIsOne) {
  kube::pod_view pod = sidecar_pod();
  pod.grace_seconds = 24;
  EXPECT_THAT(grace_of(pod, {.drain = 1s}), is(verdict::warn, "its guard's drain 20 s"))
      << "the default of a guard";
  pod.containers[1].words.insert(pod.containers[1].words.begin() + 2, "--drain=8s");
  EXPECT_THAT(grace_of(pod, {.drain = 1s}), is(verdict::ok, "its guard's drain 8 s"));
  pod.containers[1].words.insert(pod.containers[1].words.begin() + 2, {"--drain", "40s"});
  EXPECT_THAT(grace_of(pod, {.drain = 1s}), is(verdict::warn, "", "give at least 45"));
}

TEST(DoctorGrace, AFlagOfTheWorkloadIsNotTheGuards) {
  kube::pod_view pod = sidecar_pod();
  pod.containers[1].words.emplace_back("--drain=1s");
  EXPECT_THAT(grace_of(pod), is(verdict::ok, "drain 20 s"));
}

TEST(DoctorGrace, APreStopHookTakesItsTimeFirst) {
  kube::pod_view pod{.grace_seconds = 30, .containers = {{.name = "main", .has_pre_stop = true}}};
  EXPECT_THAT(grace_of(pod), is(verdict::warn, "a preStop hook takes some of it", "within 5 s"));
  pod.containers[0].pre_stop_seconds = 6;
  EXPECT_THAT(grace_of(pod), is(verdict::warn, "preStop 6 s", "give at least 31"));
  pod.containers[0].pre_stop_seconds = 5;
  EXPECT_THAT(grace_of(pod), is(verdict::ok, "preStop 5 s"));
}

TEST(DoctorPod, AnObserverHasNothingToEnd) {
  settings::agent s = settings_with();
  s.observe = true;
  EXPECT_THAT(pod_findings(s, {.grace_seconds = 1}), IsEmpty());
}

TEST(DoctorPod, TheVolumeOfTheGuardIsInTwoContainers) {
  settings::agent s = settings_with();
  s.guard_dir = "/run/tenure";
  kube::pod_view pod = sidecar_pod();
  EXPECT_THAT(of_check(pod_findings(s, pod), "volume"),
              is(verdict::ok, "volume tenure-run at /run/tenure is shared by 2"));
  pod.containers[1].mounts[0].volume = "another";
  EXPECT_THAT(of_check(pod_findings(s, pod), "volume"),
              is(verdict::bad, "no volume at /run/tenure", "emptyDir"));
  pod.containers[1].mounts = {{.volume = "tenure-run", .path = "/elsewhere"}};
  EXPECT_EQ(of_check(pod_findings(s, pod), "volume").result, verdict::ok)
      << "the guard may have it at another path";
  s.guard_dir = "/run/tenure2";
  EXPECT_EQ(of_check(pod_findings(s, pod), "volume").result, verdict::bad);
  s.guard_dir = "/run/tenure/deeper";
  EXPECT_EQ(of_check(pod_findings(s, pod), "volume").result, verdict::ok);
}

TEST(DoctorPod, ATargetIsFoundOnlyInSharedProcesses) {
  settings::agent s = settings_with();
  s.target.value = "work";
  EXPECT_THAT(of_check(pod_findings(s, {}), "processes"),
              is(verdict::bad, "not found", "shareProcessNamespace: true"));
  EXPECT_EQ(of_check(pod_findings(s, {.shares_processes = true}), "processes").result, verdict::ok);
}

TEST(DoctorPod, SharedProcessesLeaveTheKubeletNothingToSay) {
  settings::agent s = settings_with();
  s.kubernetes.witness = settings::witness::kubelet;
  EXPECT_EQ(of_check(pod_findings(s, {}), "witness").result, verdict::ok);
  EXPECT_THAT(of_check(pod_findings(s, {.shares_processes = true}), "witness"),
              is(verdict::warn, "share their processes", "remove shareProcessNamespace"));
}

TEST(DoctorPod, TheGateIsAwaited) {
  settings::agent s = settings_with();
  s.kubernetes.traffic = settings::traffic::gate;
  EXPECT_THAT(of_check(pod_findings(s, {}), "traffic"),
              is(verdict::bad, "does not await", "tenure.dev/active"));
  for (const finding& one : pod_findings(s, {.has_gate = true})) EXPECT_NE(one.check, "traffic");
}

TEST(DoctorSlices, ThatLeadElsewhereAreNamedWithTheCommandAgainstThem) {
  const settings::kubernetes its{.pod_namespace = "team"};
  EXPECT_THAT(slice_findings(its, {}).front(), is(verdict::ok, "no EndpointSlice of others"));
  kube::marked_object one{.name = "db-x7k2p", .addresses = {"10.0.0.9"}, .service = "db"};
  for (const char* keeper :
       {"endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"}) {
    one.keeper = keeper;
    EXPECT_THAT(slice_findings(its, {one}).front(),
                is(verdict::bad,
                   "EndpointSlice db-x7k2p (" + one.keeper +
                       ") leads clients of Service db to 10.0.0.9, and not",
                   R"(kubectl patch service -n team db --type=merge -p )"
                   R"('{"spec":{"selector":{"tenure.dev/select":"none"}}}')"));
  }
  one.keeper = "somebody";
  EXPECT_THAT(slice_findings(its, {one}).front(),
              is(verdict::bad, "somebody", "kubectl delete endpointslice -n team db-x7k2p"));
}

TEST(DoctorRollOut, OnlyTheActivePodIsReadyByAGateOrByAProbe) {
  EXPECT_FALSE(only_active_is_ready(sidecar_pod()));
  EXPECT_TRUE(only_active_is_ready({.has_gate = true}));
  kube::pod_view probed = sidecar_pod();
  probed.containers[1].asks_who_leads = true;
  EXPECT_TRUE(only_active_is_ready(probed));
}

struct roll_out {
  kube::workload_view of;
  verdict result;
};

TEST(DoctorRollOut, EndsOnlyWhereAllPodsMayEndAtOnce) {
  const auto rolling = [](std::string most, std::int64_t replicas = 2) {
    return kube::workload_view{.kind = "Deployment",
                               .name = "db",
                               .replicas = replicas,
                               .strategy = "RollingUpdate",
                               .max_unavailable = std::move(most)};
  };
  for (const roll_out& one : {
           roll_out{rolling("25%"), verdict::bad},
           roll_out{rolling("1"), verdict::bad},
           roll_out{rolling(""), verdict::bad},
           roll_out{rolling("100%"), verdict::ok},
           roll_out{rolling("2"), verdict::ok},
           roll_out{rolling("1", 1), verdict::ok},
           roll_out{{.kind = "Deployment", .strategy = "Recreate"}, verdict::ok},
           roll_out{{.kind = "StatefulSet", .strategy = "RollingUpdate"}, verdict::bad},
           roll_out{{.kind = "StatefulSet", .max_unavailable = "100%"}, verdict::bad},
           roll_out{{.kind = "StatefulSet", .strategy = "OnDelete"}, verdict::ok},
           roll_out{{.kind = "DaemonSet", .strategy = "OnDelete"}, verdict::ok},
           roll_out{{.kind = "ReplicaSet"}, verdict::ok},
       }) {
    EXPECT_EQ(roll_out_finding(one.of).result, one.result)
        << one.of.kind << " " << one.of.strategy << " " << one.of.max_unavailable;
  }
  EXPECT_EQ(roll_out_finding(std::nullopt).result, verdict::ok);
  EXPECT_THAT(roll_out_finding(rolling("1")),
              is(verdict::bad, "a roll-out of Deployment db never ends", "100%"));
}

TEST(DoctorBudget, IsWithinWhatTheStoreGrants) {
  stores::description store;
  store.min_ttl = 10s;
  store.max_ttl = 60s;
  EXPECT_THAT(budget_finding(settings_with({.ttl = 5s}), store),
              is(verdict::bad, "etcd grants no lease of 5 s", "at least 10 s"));
  EXPECT_THAT(budget_finding(settings_with({.ttl = 90s}), store),
              is(verdict::bad, "etcd grants no lease of", "at most"));
  EXPECT_THAT(budget_finding(settings_with({.ttl = 15s}), store),
              is(verdict::ok, "killed at 14.4 s; a fail-over takes"));
}

TEST(DoctorElection, SaysWhoHolds) {
  core::observation seen;
  seen.as_of = core::version{9};
  EXPECT_THAT(election_findings({.name = "db"}, seen),
              ElementsAre(is(verdict::ok, "db: nobody holds it")));
  seen.holders = {{.identity = "a", .version = core::version{7}}};
  seen.members = std::vector<core::member>{{.identity = "a"}, {.identity = "b"}};
  EXPECT_THAT(election_findings({.name = "db"}, seen),
              ElementsAre(is(verdict::ok, "db: a under version 7; members a, b")));
}

TEST(DoctorElection, AMemberWithAnotherNumberOfSlotsWaitsForThoseThatKeepIt) {
  core::observation seen;
  seen.agreed.slots = 2;
  seen.holders = {{.identity = "a", .version = core::version{7}}};
  seen.members = std::vector<core::member>{{.identity = "a", .says = core::readiness{.slots = 2}},
                                           {.identity = "b"},
                                           {.identity = "c", .says = core::readiness{.slots = 3}}};
  EXPECT_THAT(election_findings({.name = "db", .slots = 3}, seen),
              ElementsAre(is(verdict::ok, "db"),
                          is(verdict::warn, "db has 2 in the store and 3", "restart these")));
  EXPECT_THAT(election_findings({.name = "db", .slots = 3}, seen).at(1).text,
              testing::EndsWith("have gone: a, b"));
  EXPECT_EQ(election_findings({.name = "db", .slots = 2}, seen).size(), 1U);
  seen.holders.clear();
  seen.members = std::vector<core::member>{{.identity = "c", .says = core::readiness{.slots = 3}}};
  EXPECT_EQ(election_findings({.name = "db", .slots = 3}, seen).size(), 1U) << "it becomes 3";
}

TEST(DoctorElection, VersionsThatWentBackAreToldUntilTheyAreAccepted) {
  core::observation seen;
  seen.as_of = core::version{5};
  seen.last_release = core::release_record{.version = core::version{9}};
  EXPECT_THAT(election_findings({.name = "db"}, seen),
              ElementsAre(is(verdict::ok, "db"),
                          is(verdict::warn, "version 5, and version 9", "--accept-versions")));
  seen.agreed.versions_from = core::version{4};
  EXPECT_THAT(election_findings({.name = "db"}, seen),
              ElementsAre(is(verdict::ok, "db"), is(verdict::ok, "versions from 4 on")));
  seen.agreed.versions_from = core::no_version;
  seen.as_of = core::version{9};
  EXPECT_EQ(election_findings({.name = "db"}, seen).size(), 1U);
}

TEST(DoctorClock, AFewSecondsAreNothing) {
  EXPECT_THAT(clock_finding("s", 400ms, 0ms), is(verdict::ok, "less than 1 s"));
  EXPECT_THAT(clock_finding("s", -5s, 0ms), is(verdict::ok, "by 5 s"));
  EXPECT_THAT(clock_finding("s", 6s, 2s), is(verdict::ok, "by 6 s"))
      << "the answer was on its way for 2 s";
  EXPECT_THAT(clock_finding("s", 90s, 0ms),
              is(verdict::warn, "1 min 30 s ahead of this one: leases do not go by it", "time"));
  EXPECT_THAT(clock_finding("s", -90s, 0ms), is(verdict::warn, "1 min 30 s behind"));
}

TEST(DoctorRight, IsNamedWithTheRuleThatGivesIt) {
  const finding lease = right_finding({.verb = "patch",
                                       .group = "coordination.k8s.io",
                                       .resource = "leases",
                                       .name_space = "team",
                                       .name = "db"});
  EXPECT_THAT(lease, is(verdict::bad, "lacks the right to patch leases db in namespace team",
                        "add to its Role: {apiGroups: [coordination.k8s.io]"));
  EXPECT_THAT(lease.action, HasSubstr("docs/kubernetes.md#permissions"));
  EXPECT_EQ(right_finding(kube::event_right("team")).result, verdict::warn)
      << "an agent works without Events";
  EXPECT_THAT(right_finding(kube::witness_right({.pod_namespace = "team"})),
              is(verdict::warn, "watch pods", "kubernetes.md#a-pod-that-dies-with-its-agent"));
}

TEST(DoctorWords, AreThoseOfTheDocumentation) {
  EXPECT_EQ(word(verdict::ok), "ok");
  EXPECT_EQ(word(verdict::warn), "warn");
  EXPECT_EQ(word(verdict::bad), "BAD");
  EXPECT_EQ(word(verdict::skip), "skip");
}

}  // namespace
}  // namespace tenure::runtime
