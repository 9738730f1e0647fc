#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kube/codec.hpp"

namespace tenure::kube::test {
namespace {

using nlohmann::json;
using settings::traffic;
using testing::ElementsAre;
using testing::IsEmpty;

// 2026-01-31T12:00:00.250Z
constexpr std::int64_t noon = 1769860800250;

settings::kubernetes settings_for(traffic way) {
  return {.traffic = way,
          .slices = way == traffic::endpoints ? std::vector<std::string>{"db"}
                                              : std::vector<std::string>{},
          .pod_name = "db-0",
          .pod_namespace = "team",
          .pod_uid = "u-0",
          .pod_node = "n1",
          .pod_addresses = {"10.0.0.9", "fd00::9"}};
}

marked_object seen(const std::string& name, named who = named::nobody) {
  return {.name = name, .uid = "u", .resource_version = "41", .who = who};
}

traffic_request write(marked_object to, bool names_us, std::uint64_t version = 7) {
  return {.what = traffic_request::kind::write,
          .object = to.name,
          .seen = std::move(to),
          .names_us = names_us,
          .version = core::version{version}};
}

api_request request(traffic way, const traffic_request& what) {
  const settings::kubernetes its = settings_for(way);
  return request_for(what, {.its = its, .election = "db"}, noon);
}

json body(traffic way, const traffic_request& what) {
  return json::parse(request(way, what).body);
}

TEST(TrafficRequests, PodsAreListedByTheLabelOfTheElection) {
  const api_request asked = request(traffic::gate, {.what = traffic_request::kind::list});
  EXPECT_EQ(asked.method, "GET");
  EXPECT_EQ(asked.path, "/api/v1/namespaces/team/pods");
  EXPECT_EQ(asked.query, "labelSelector=tenure.dev%2Felection%3Ddb");
}

TEST(TrafficRequests, AnObjectIsReadByItsName) {
  const traffic_request read{.what = traffic_request::kind::read, .object = "db-0"};
  EXPECT_EQ(request(traffic::label, read).path, "/api/v1/namespaces/team/pods/db-0");
  EXPECT_EQ(request(traffic::endpoints, read).path,
            "/apis/discovery.k8s.io/v1/namespaces/team/endpointslices/db-0");
}

TEST(TrafficRequests, AWriteReliesOnWhatWasReadAndSaysWhoWrites) {
  for (const traffic way : {traffic::label, traffic::gate, traffic::endpoints}) {
    const traffic_request what = write(seen("db"), true);
    EXPECT_EQ(body(way, what)["metadata"]["uid"], "u");
    EXPECT_EQ(body(way, what)["metadata"]["resourceVersion"], "41");
    EXPECT_EQ(request(way, what).method, "PATCH");
    EXPECT_EQ(request(way, what).query, "fieldManager=tenure");
  }
}

TEST(TrafficRequests, ALabelSaysTheRoleAndTheElectionAndAnAnnotationTheVersion) {
  const traffic_request what = write(seen("db-0"), true);
  EXPECT_EQ(request(traffic::label, what).content_type, "application/merge-patch+json");
  const json metadata = body(traffic::label, what)["metadata"];
  EXPECT_EQ(metadata["labels"],
            (json{{"tenure.dev/role", "active"}, {"tenure.dev/election", "db"}}));
  EXPECT_EQ(metadata["annotations"], (json{{"tenure.dev/version", "7"}}));
  const json fresh = body(traffic::label, write(seen("db-0"), false, 0))["metadata"];
  EXPECT_EQ(fresh["labels"]["tenure.dev/role"], "standby");
  EXPECT_FALSE(fresh.contains("annotations")) << "there was no term yet";
}

TEST(TrafficRequests, AConditionSaysWhoIsActiveUnderWhichVersion) {
  const traffic_request what = write(seen("db-0"), true);
  const api_request asked = request(traffic::gate, what);
  EXPECT_EQ(asked.path, "/api/v1/namespaces/team/pods/db-0/status");
  EXPECT_EQ(asked.content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(body(traffic::gate, what)["status"]["conditions"],
            json::array({{{"type", "tenure.dev/active"},
                          {"status", "True"},
                          {"reason", "Active"},
                          {"message", "version 7: this pod is active in the election db"},
                          {"lastTransitionTime", "2026-01-31T12:00:00Z"}}}));
}

TEST(TrafficRequests, AConditionThatStaysAsItIsKeepsItsTime) {
  const json standby = body(traffic::gate, write(seen("db-1"), false))["status"]["conditions"][0];
  EXPECT_EQ(standby["status"], "False");
  EXPECT_EQ(standby["reason"], "Standby");
  EXPECT_EQ(standby["message"], "version 7: db-0 is active in the election db");
  EXPECT_FALSE(standby.contains("lastTransitionTime"));
  marked_object none = seen("db-0");
  none.is_complete = false;
  const json fresh = body(traffic::gate, write(none, false, 0))["status"]["conditions"][0];
  EXPECT_EQ(fresh["message"], "this pod is not active in the election db");
  EXPECT_TRUE(fresh.contains("lastTransitionTime")) << "there was none";
}

TEST(TrafficRequests, APodOfADeadNodeIsNotReadyAnyMore) {
  marked_object other = seen("db-1", named::other);
  EXPECT_EQ(body(traffic::gate, write(other, false))["status"]["conditions"].size(), 1U);
  other.is_ready = true;
  const json all = body(traffic::gate, write(other, false))["status"]["conditions"];
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1]["type"], "Ready");
  EXPECT_EQ(all[1]["status"], "False");
  EXPECT_EQ(all[1]["reason"], "ReadinessGatesNotReady");
  marked_object ours = seen("db-0", named::us);
  ours.is_ready = true;
  EXPECT_EQ(body(traffic::gate, write(ours, false))["status"]["conditions"].size(), 1U)
      << "the kubelet of our own pod is alive";
}

TEST(TrafficRequests, ASliceHasOurPodAsItsOnlyEndpoint) {
  marked_object slice = seen("db");
  slice.addresses = {"10.0.0.9"};
  const json named_us = body(traffic::endpoints, write(slice, true));
  EXPECT_EQ(
      named_us["endpoints"],
      json::array({{{"addresses", {"10.0.0.9"}},
                    {"conditions", {{"ready", true}, {"serving", true}, {"terminating", false}}},
                    {"targetRef",
                     {{"kind", "Pod"}, {"namespace", "team"}, {"name", "db-0"}, {"uid", "u-0"}}},
                    {"nodeName", "n1"}}}));
  EXPECT_EQ(named_us["metadata"]["annotations"],
            (json{{"tenure.dev/holder", "db-0"}, {"tenure.dev/version", "7"}}));
  EXPECT_FALSE(named_us.contains("ports")) << "they are the manifest's";
  const json emptied = body(traffic::endpoints, write(slice, false));
  EXPECT_EQ(emptied["endpoints"], json::array());
  EXPECT_EQ(emptied["metadata"]["annotations"],
            (json{{"tenure.dev/holder", nullptr}, {"tenure.dev/version", "7"}}));
}

// --- rights ----------------------------------------------------------------------------------

std::vector<std::string> needs(settings::kubernetes its, std::string_view lease_namespace = {}) {
  std::vector<std::string> out;
  for (const right& one : rights_for(its, lease_namespace)) out.push_back(text(one));
  return out;
}

TEST(Rights, AreExactlyThoseThatTheSettingsNeed) {
  EXPECT_THAT(needs(settings_for(traffic::probe)), IsEmpty());
  EXPECT_THAT(needs(settings_for(traffic::label)),
              ElementsAre("get pods in namespace team", "list pods in namespace team",
                          "patch pods in namespace team"));
  EXPECT_THAT(needs(settings_for(traffic::gate)),
              ElementsAre("get pods in namespace team", "list pods in namespace team",
                          "patch pods/status in namespace team"));
  EXPECT_THAT(needs(settings_for(traffic::endpoints)),
              ElementsAre("get endpointslices db in namespace team",
                          "patch endpointslices db in namespace team",
                          "list endpointslices in namespace team"));
}

TEST(Rights, EventsAreWrittenWhereTheirObjectsAre) {
  settings::kubernetes its = settings_for(traffic::probe);
  its.events = true;
  EXPECT_THAT(needs(its, "leases"), ElementsAre("create events in namespace team"));
  its.has_leases = true;
  EXPECT_THAT(needs(its, "team"), ElementsAre("create events in namespace team"));
  EXPECT_THAT(needs(its, "leases"),
              ElementsAre("create events in namespace team", "create events in namespace leases"));
}

TEST(Rights, AreSaidWithTheResourceThatEachVerbIsFor) {
  settings::kubernetes its = settings_for(traffic::endpoints);
  its.slices = {"db-v4", "db-v6"};
  its.events = true;
  EXPECT_EQ(
      text(rights_for(its, {})),
      "get, patch, list endpointslices in namespace team; and create events in namespace team");
  EXPECT_EQ(text(rights_for(settings_for(traffic::gate), {})),
            "get, list pods in namespace team; and patch pods/status in namespace team");
  EXPECT_EQ(text(std::vector<right>{}), "");
}

TEST(Rights, EachHasARuleToAdd) {
  const settings::kubernetes label = settings_for(traffic::label);
  EXPECT_EQ(rule_for(rights_for(label, {}).back()),
            R"({apiGroups: [""], resources: [pods], verbs: [patch]})");
  const settings::kubernetes gate = settings_for(traffic::gate);
  EXPECT_EQ(rule_for(rights_for(gate, {}).back()),
            R"({apiGroups: [""], resources: [pods/status], verbs: [patch]})");
  const settings::kubernetes slice = settings_for(traffic::endpoints);
  EXPECT_EQ(rule_for(rights_for(slice, {}).back()),
            "{apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list]}");
  EXPECT_EQ(rule_for(rights_for(slice, {})[1]),
            "{apiGroups: [discovery.k8s.io], resources: [endpointslices], resourceNames: [db], "
            "verbs: [patch]}");
}

TEST(Rights, AreAskedForOneByOne) {
  const settings::kubernetes its = settings_for(traffic::endpoints);
  const api_request asked = review_of(rights_for(its, {})[1]);
  EXPECT_EQ(asked.method, "POST");
  EXPECT_EQ(asked.path, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
  EXPECT_EQ(json::parse(asked.body)["spec"]["resourceAttributes"],
            (json{{"namespace", "team"},
                  {"verb", "patch"},
                  {"group", "discovery.k8s.io"},
                  {"resource", "endpointslices"},
                  {"name", "db"}}));
  const settings::kubernetes gate = settings_for(traffic::gate);
  EXPECT_EQ(
      json::parse(
          review_of(rights_for(gate, {}).back()).body)["spec"]["resourceAttributes"]["subresource"],
      "status");
  EXPECT_EQ(read_review(R"({"status": {"allowed": true}})"), true);
  EXPECT_EQ(read_review(R"({"status": {"allowed": false, "reason": "no"}})"), false);
  for (const char* nonsense : {"", "{}", "[]", R"({"status": {"allowed": "no"}})", "<html>"}) {
    EXPECT_EQ(read_review(nonsense), std::nullopt) << nonsense;
  }
}

// --- Events ----------------------------------------------------------------------------------

TEST(EventRequests, SayWhatHasHappenedToWhichObject) {
  const event_note what{.action = "Lose", .reason = "TakenOver", .is_warning = true, .note = "n"};
  const api_request asked = event_request(what,
                                          {.api_version = "coordination.k8s.io/v1",
                                           .kind = "Lease",
                                           .name_space = "leases",
                                           .name = "db",
                                           .uid = "u-l"},
                                          "db-0", noon);
  EXPECT_EQ(asked.method, "POST");
  EXPECT_EQ(asked.path, "/apis/events.k8s.io/v1/namespaces/leases/events");
  EXPECT_EQ(json::parse(asked.body), json::parse(R"({
    "apiVersion": "events.k8s.io/v1", "kind": "Event",
    "metadata": {"generateName": "db-", "namespace": "leases"},
    "eventTime": "2026-01-31T12:00:00.250000Z",
    "reportingController": "tenure.dev/agent", "reportingInstance": "db-0",
    "action": "Lose", "reason": "TakenOver", "type": "Warning", "note": "n",
    "regarding": {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                  "namespace": "leases", "name": "db", "uid": "u-l"}})"));
}

TEST(EventRequests, TheUidOfALeaseIsRead) {
  EXPECT_EQ(lease_request("leases", "db").path,
            "/apis/coordination.k8s.io/v1/namespaces/leases/leases/db");
  const std::string lease = R"({"metadata": {"name": "db", "uid": "u-l"}})";
  EXPECT_EQ(read_uid(lease, "db"), "u-l");
  EXPECT_EQ(read_uid(lease, "other"), "");
  EXPECT_EQ(read_uid("nonsense", "db"), "");
}

}  // namespace
}  // namespace tenure::kube::test
