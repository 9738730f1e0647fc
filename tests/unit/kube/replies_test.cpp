#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kube/codec.hpp"

namespace tenure::kube::test {
namespace {

using nlohmann::json;
using settings::traffic;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const settings::kubernetes label_settings{
    .traffic = traffic::label, .pod_name = "db-0", .pod_namespace = "team"};
const settings::kubernetes gate_settings{
    .traffic = traffic::gate, .pod_name = "db-0", .pod_namespace = "team"};
const settings::kubernetes slice_settings{.traffic = traffic::endpoints,
                                          .slices = {"db"},
                                          .pod_name = "db-0",
                                          .pod_namespace = "team",
                                          .pod_uid = "u-0",
                                          .pod_addresses = {"10.0.0.9", "fd00::9"}};

std::expected<std::vector<marked_object>, std::string> read(const settings::kubernetes& its,
                                                            const traffic_request& asked,
                                                            const std::string& body) {
  return read_reply(asked, body, {.its = its, .election = "db"});
}

traffic_request read_of(const std::string& name) {
  return {.what = traffic_request::kind::read, .object = name};
}
const traffic_request list{.what = traffic_request::kind::list};

/// The only object of a good reply.
marked_object one(const settings::kubernetes& its, const json& body) {
  const auto shown = read(its, read_of(body["metadata"]["name"]), body.dump());
  EXPECT_TRUE(shown.has_value()) << (shown ? "" : shown.error());
  return shown && shown->size() == 1 ? shown->front() : marked_object();
}

json pod(const std::string& name = "db-0") {
  return {{"kind", "Pod"},
          {"apiVersion", "v1"},
          {"metadata",
           {{"name", name},
            {"uid", "u"},
            {"resourceVersion", "41"},
            {"labels", {{"app", "db"}, {"tenure.dev/election", "db"}}}}},
          {"spec", {{"readinessGates", {{{"conditionType", "tenure.dev/active"}}}}}},
          {"status", {{"phase", "Running"}, {"conditions", json::array()}}}};
}

json pods(std::vector<json> items) {
  return {{"kind", "PodList"},
          {"apiVersion", "v1"},
          {"metadata", json::object()},
          {"items", std::move(items)}};
}

// --- labels ----------------------------------------------------------------------------------

TEST(TrafficReplies, ALabelSaysWhoIsNamed) {
  json shown = pod();
  EXPECT_EQ(one(label_settings, shown).who, named::nobody);
  EXPECT_FALSE(one(label_settings, shown).is_complete) << "it says no role";
  shown["metadata"]["labels"]["tenure.dev/role"] = "standby";
  EXPECT_EQ(one(label_settings, shown),
            (marked_object{.name = "db-0", .uid = "u", .resource_version = "41"}));
  shown["metadata"]["labels"]["tenure.dev/role"] = "active";
  shown["metadata"]["annotations"] = {{"tenure.dev/version", "7"}};
  EXPECT_EQ(one(label_settings, shown), (marked_object{.name = "db-0",
                                                       .uid = "u",
                                                       .resource_version = "41",
                                                       .who = named::us,
                                                       .version = core::version{7}}));
  shown["metadata"]["name"] = "db-1";
  EXPECT_EQ(one(label_settings, shown).who, named::other);
  shown["metadata"]["annotations"] = {{"tenure.dev/version", "seven"}};
  EXPECT_EQ(one(label_settings, shown).version, core::no_version);
}

TEST(TrafficReplies, APodWithoutTheLabelOfTheElectionIsInNoList) {
  json shown = pod();
  shown["metadata"]["labels"] = {{"tenure.dev/role", "standby"}};
  EXPECT_FALSE(one(label_settings, shown).is_listed);
  EXPECT_FALSE(one(label_settings, shown).is_complete);
  EXPECT_THAT(one(label_settings, shown).flaw, IsEmpty()) << "we write it";
  shown["metadata"].erase("labels");
  EXPECT_FALSE(one(label_settings, shown).is_listed);
}

TEST(TrafficReplies, AListHasAllPodsOfTheElectionAndNoOther) {
  json other = pod("db-1");
  other["status"]["phase"] = "Failed";
  const auto shown = read(label_settings, list, pods({pod(), other}).dump());
  ASSERT_TRUE(shown) << shown.error();
  ASSERT_THAT(*shown, SizeIs(2));
  EXPECT_FALSE(shown->front().is_over);
  EXPECT_TRUE(shown->back().is_over);
  other["metadata"]["labels"]["tenure.dev/election"] = "another";
  EXPECT_THAT(read(label_settings, list, pods({pod(), other}).dump()).error(),
              HasSubstr("it has a pod that was not asked for"));
  json part = pods({pod()});
  part["metadata"]["continue"] = "token";
  EXPECT_THAT(read(label_settings, list, part.dump()).error(),
              HasSubstr("it is not the whole list"));
}

// --- conditions ------------------------------------------------------------------------------

TEST(TrafficReplies, AConditionSaysWhoIsNamed) {
  json shown = pod();
  EXPECT_FALSE(one(gate_settings, shown).is_complete);
  shown["status"]["conditions"] = {{{"type", "Ready"}, {"status", "True"}},
                                   {{"type", "tenure.dev/active"},
                                    {"status", "True"},
                                    {"message", "version 7: this pod is active"}}};
  EXPECT_EQ(one(gate_settings, shown), (marked_object{.name = "db-0",
                                                      .uid = "u",
                                                      .resource_version = "41",
                                                      .who = named::us,
                                                      .version = core::version{7},
                                                      .is_ready = true}));
  shown["status"]["conditions"][1]["status"] = "False";
  shown["status"]["conditions"][1]["message"] = "this pod is not active";
  EXPECT_EQ(one(gate_settings, shown).who, named::nobody);
  EXPECT_EQ(one(gate_settings, shown).version, core::no_version);
  shown["status"]["conditions"][1]["status"] = "Unknown";
  EXPECT_EQ(one(gate_settings, shown).who, named::nobody);
}

TEST(TrafficReplies, AGateNeedsALabelAndAReadinessGateInThePodTemplate) {
  json shown = pod();
  EXPECT_THAT(one(gate_settings, shown).flaw, IsEmpty());
  shown["spec"]["readinessGates"][0]["conditionType"] = "other.dev/ready";
  EXPECT_THAT(one(gate_settings, shown).flaw,
              HasSubstr("add `readinessGates: [{conditionType: tenure.dev/active}]`"));
  shown["metadata"]["labels"].erase("tenure.dev/election");
  EXPECT_THAT(one(gate_settings, shown).flaw,
              HasSubstr("the pod has no label tenure.dev/election: db"));
}

// --- slices ----------------------------------------------------------------------------------

json slice() {
  return {{"kind", "EndpointSlice"},
          {"metadata",
           {{"name", "db"},
            {"uid", "u"},
            {"resourceVersion", "41"},
            {"labels",
             {{"kubernetes.io/service-name", "db"},
              {"endpointslice.kubernetes.io/managed-by", "tenure.dev"}}}}},
          {"addressType", "IPv4"},
          {"endpoints", nullptr},
          {"ports", json::array()}};
}

json named_slice(const std::string& pod) {
  json out = slice();
  out["metadata"]["annotations"] = {{"tenure.dev/version", "7"}, {"tenure.dev/holder", pod}};
  out["endpoints"] = {{{"addresses", {"10.0.0.9"}},
                       {"conditions", {{"ready", true}}},
                       {"targetRef", {{"kind", "Pod"}, {"name", pod}, {"uid", "u-0"}}}}};
  return out;
}

TEST(TrafficReplies, ASliceNamesThePodOfItsEndpoint) {
  marked_object empty = one(slice_settings, slice());
  EXPECT_EQ(empty.who, named::nobody);
  EXPECT_THAT(empty.addresses, testing::ElementsAre("10.0.0.9"));
  EXPECT_THAT(empty.flaw, IsEmpty());
  const marked_object ours = one(slice_settings, named_slice("db-0"));
  EXPECT_EQ(ours.who, named::us);
  EXPECT_TRUE(ours.is_complete);
  EXPECT_EQ(ours.version, core::version{7});
  EXPECT_EQ(one(slice_settings, named_slice("db-1")).who, named::other);
}

TEST(TrafficReplies, ASliceHasToNameExactlyThisPod) {
  const auto is_complete = [](const std::function<void(json&)>& change) {
    json shown = named_slice("db-0");
    change(shown);
    return one(slice_settings, shown).is_complete;
  };
  EXPECT_FALSE(is_complete([](json& s) { s["endpoints"][0]["addresses"] = {"10.0.0.8"}; }));
  EXPECT_FALSE(is_complete([](json& s) { s["endpoints"][0]["conditions"]["ready"] = false; }));
  EXPECT_FALSE(is_complete([](json& s) { s["endpoints"][0]["targetRef"]["uid"] = "u-old"; }))
      << "a StatefulSet's pod of the same name";
  EXPECT_FALSE(is_complete([](json& s) { s["endpoints"][0]["nodeName"] = "n2"; }));
  EXPECT_FALSE(is_complete([](json& s) { s["endpoints"].push_back(s["endpoints"][0]); }));
  EXPECT_FALSE(is_complete([](json& s) { s["metadata"].erase("annotations"); }));
  json two = named_slice("db-0");
  two["endpoints"].push_back(named_slice("db-1")["endpoints"][0]);
  EXPECT_EQ(one(slice_settings, two).who, named::other) << "somebody else has added one";
  two["endpoints"][0].erase("targetRef");
  EXPECT_EQ(one(slice_settings, two).who, named::other);
}

TEST(TrafficReplies, ASliceGetsTheAddressesOfItsFamily) {
  json shown = slice();
  shown["addressType"] = "IPv6";
  EXPECT_THAT(one(slice_settings, shown).addresses, testing::ElementsAre("fd00::9"));
  shown["addressType"] = "FQDN";
  EXPECT_THAT(one(slice_settings, shown).flaw,
              HasSubstr("is for FQDN, and pod_address has no such address"));
}

TEST(TrafficReplies, ThoseOfAServiceSayWhoIsServedByThem) {
  const auto listed = [](std::vector<json> items, const std::string& service = "db") {
    for (json& one : items) one.erase("kind");  // as in a list
    return read(
        slice_settings, {.what = traffic_request::kind::list, .object = service},
        json{{"kind", "EndpointSliceList"}, {"metadata", json::object()}, {"items", items}}.dump());
  };
  json stale = named_slice("db-9");
  stale["metadata"]["name"] = "db-x7k2p";
  stale["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"] =
      "endpointslice-controller.k8s.io";
  json over = stale;
  over["endpoints"][0]["conditions"]["ready"] = false;
  json unsaid = stale;
  unsaid["endpoints"][0].erase("conditions");
  const auto all = listed({stale, over, unsaid, slice()});
  ASSERT_TRUE(all.has_value()) << all.error();
  EXPECT_EQ((*all)[0].service, "db");
  EXPECT_EQ((*all)[0].keeper, "endpointslice-controller.k8s.io");
  EXPECT_THAT((*all)[0].addresses, testing::ElementsAre("10.0.0.9"));
  EXPECT_EQ((*all)[0].who, named::other);
  EXPECT_EQ((*all)[1].who, named::nobody) << "an endpoint that is not ready gets no traffic";
  EXPECT_EQ((*all)[2].who, named::other) << "not said is ready";
  EXPECT_EQ((*all)[3].who, named::nobody);
  EXPECT_THAT(listed({stale}, "web").error(), HasSubstr("a slice that was not asked for"));
}

TEST(TrafficReplies, ASliceThatIsNotForUsIsNotWritten) {
  json shown = slice();
  shown["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"] =
      "endpointslice-controller.k8s.io";
  EXPECT_THAT(one(slice_settings, shown).flaw, HasSubstr("belongs to Kubernetes' own controller"));
  shown = slice();
  shown["metadata"]["labels"].erase("kubernetes.io/service-name");
  EXPECT_THAT(one(slice_settings, shown).flaw, HasSubstr("so that no Service uses it"));
}

// --- what is not believed --------------------------------------------------------------------

TEST(TrafficReplies, AnAnswerAboutAnotherObjectIsNotBelieved) {
  EXPECT_THAT(read(label_settings, read_of("db-0"), pod("db-1").dump()).error(),
              HasSubstr("it is about another object"));
  EXPECT_THAT(read(slice_settings, read_of("db"), pod("db").dump()).error(),
              HasSubstr("it is not a EndpointSlice"));
  EXPECT_THAT(read(label_settings, list, pod().dump()).error(), HasSubstr("it is not a PodList"));
}

TEST(TrafficReplies, NonsenseIsNotBelieved) {
  const std::string deep(100, '[');
  for (const std::string& body :
       {std::string(), std::string("null"), std::string("[]"), std::string("{"), deep,
        std::string("<html>\x1b[31m"), std::string("{}\0", 3)}) {
    const auto shown = read(label_settings, read_of("db-0"), body);
    ASSERT_FALSE(shown) << body;
    EXPECT_FALSE(shown.error().contains('\x1b')) << "it goes into the log";
  }
}

TEST(TrafficReplies, WhatLacksSomethingOrHasAWrongTypeIsNotBelieved) {
  for (const char* pointer :
       {"/metadata/name", "/metadata/uid", "/metadata/resourceVersion", "/metadata", "/kind"}) {
    for (const json& other : {json(5), json(nullptr), json("")}) {
      json shown = pod();
      shown[json::json_pointer(pointer)] = other;
      EXPECT_FALSE(read(label_settings, read_of("db-0"), shown.dump())) << shown.dump();
    }
  }
  for (const char* pointer :
       {"/metadata/labels", "/status", "/status/conditions", "/spec/readinessGates"}) {
    json shown = pod();
    shown[json::json_pointer(pointer)] = "text";
    EXPECT_FALSE(read(gate_settings, read_of("db-0"), shown.dump())) << shown.dump();
  }
}

}  // namespace
}  // namespace tenure::kube::test
