#include "kube/pod_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tenure::kube::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json pod() {
  return json::parse(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "db-0", "ownerReferences": [
      {"apiVersion": "v1", "kind": "Node", "name": "n1"},
      {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "db-5d", "controller": true}]},
    "spec": {
      "terminationGracePeriodSeconds": 45, "shareProcessNamespace": true,
      "readinessGates": [{"conditionType": "other"}, {"conditionType": "tenure.dev/active"}],
      "initContainers": [{"name": "tenure", "restartPolicy": "Always", "args": ["agent"],
        "volumeMounts": [{"name": "tenure-run", "mountPath": "/run/tenure"}]}],
      "containers": [{"name": "main", "command": ["/tenure-bin/tenure", "guard", "--"],
        "args": ["work"], "lifecycle": {"preStop": {"sleep": {"seconds": 7}}},
        "readinessProbe": {"httpGet": {"path": "/leader", "port": 8081}}}]}})");
}

pod_view view(const json& body) {
  const auto read = read_pod(body.dump(), "db-0");
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error());
  return read.value_or(pod_view());
}

std::string refusal(const std::string& body) {
  const auto read = read_pod(body, "db-0");
  return read ? "" : read.error();
}

TEST(PodView, HasWhatDecidesHowThePodEndsAndIsReplaced) {
  const pod_view seen = view(pod());
  EXPECT_EQ(seen.grace_seconds, 45);
  EXPECT_TRUE(seen.shares_processes);
  EXPECT_TRUE(seen.has_gate);
  ASSERT_TRUE(seen.made_by.has_value());
  EXPECT_EQ(seen.made_by->kind + " " + seen.made_by->name, "ReplicaSet db-5d")
      << "the owner that does not control it replaces nothing";
  ASSERT_EQ(seen.containers.size(), 2U);
  EXPECT_EQ(seen.containers[0].mounts.at(0).volume, "tenure-run");
  EXPECT_EQ(seen.containers[0].mounts.at(0).path, "/run/tenure");
  EXPECT_FALSE(seen.containers[0].has_pre_stop);
  const container_view& main = seen.containers[1];
  EXPECT_THAT(main.words, ElementsAre("/tenure-bin/tenure", "guard", "--", "work"));
  EXPECT_TRUE(main.has_pre_stop);
  EXPECT_EQ(main.pre_stop_seconds, 7);
  EXPECT_TRUE(main.asks_who_leads);
}

TEST(PodView, WhatASpecDoesNotSayIsAsKubernetesHasIt) {
  const pod_view seen = view({{"kind", "Pod"}, {"metadata", {{"name", "db-0"}}}});
  EXPECT_EQ(seen.grace_seconds, 30);
  EXPECT_FALSE(seen.shares_processes);
  EXPECT_FALSE(seen.has_gate);
  EXPECT_FALSE(seen.made_by.has_value());
}

TEST(PodView, AProbeAsksWhoLeadsByPathOrByCommand) {
  const auto asks = [](const json& probe) {
    json body = pod();
    body["spec"]["containers"][0]["readinessProbe"] = probe;
    return view(body).containers[1].asks_who_leads;
  };
  EXPECT_TRUE(asks({{"httpGet", {{"path", "/leader?election=db"}}}}));
  EXPECT_TRUE(asks({{"httpGet", {{"path", "/primary"}}}}));
  EXPECT_TRUE(asks({{"exec", {{"command", {"tenure", "probe", "leader"}}}}}));
  EXPECT_FALSE(asks({{"httpGet", {{"path", "/readyz"}}}}));
  EXPECT_FALSE(asks({{"httpGet", {{"path", "/leaders"}}}}));
  EXPECT_FALSE(asks({{"exec", {{"command", {"tenure", "probe", "readyz"}}}}}));
  EXPECT_FALSE(asks(nullptr));
}

TEST(PodView, AReplyThatIsNotThatPodIsNotUsed) {
  json other = pod();
  other["metadata"]["name"] = "db-1";
  EXPECT_THAT(refusal(other.dump()), HasSubstr("it is about another object"));
  json kind = pod();
  kind["kind"] = "Service";
  EXPECT_THAT(refusal(kind.dump()), HasSubstr("it is not a Pod"));
  json odd = pod();
  odd["spec"]["terminationGracePeriodSeconds"] = "45";
  EXPECT_THAT(refusal(odd.dump()), HasSubstr("not a whole number"));
  EXPECT_THAT(refusal("\x1b[2J"), HasSubstr("it is not a JSON object"));
  EXPECT_THAT(refusal("\x1b[2J"), testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(refusal("{\"kind\":\"Pod\",\"spec\":7}"), testing::Not(""));
}

TEST(PodView, AnOwnerTellsHowItReplacesItsPods) {
  const owner whose{.kind = "Deployment", .name = "db"};
  EXPECT_EQ(owner_request("team", whose).path, "/apis/apps/v1/namespaces/team/deployments/db");
  const auto read = [&whose](const std::string& spec) {
    return read_owner(R"({"kind":"Deployment","metadata":{"name":"db"},"spec":)" + spec + "}",
                      whose);
  };
  const auto share = read(
      R"({"replicas":3,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"100%"}}})");
  ASSERT_TRUE(share.has_value()) << share.error();
  EXPECT_EQ(share->replicas, 3);
  EXPECT_EQ(share->strategy, "RollingUpdate");
  EXPECT_EQ(share->max_unavailable, "100%");
  const auto number = read(R"({"strategy":{"rollingUpdate":{"maxUnavailable":2}}})");
  ASSERT_TRUE(number.has_value()) << number.error();
  EXPECT_EQ(number->max_unavailable, "2");
  EXPECT_EQ(number->replicas, 1);

  const auto set = read_owner(
      R"({"kind":"StatefulSet","metadata":{"name":"s"},"spec":{"updateStrategy":{"type":"OnDelete"}}})",
      {.kind = "StatefulSet", .name = "s"});
  ASSERT_TRUE(set.has_value()) << set.error();
  EXPECT_EQ(set->strategy, "OnDelete");
  EXPECT_FALSE(read_owner("{}", whose).has_value());
}

TEST(PodView, AnOwnerOfAnotherApiIsNotTakenForOneThatIsKnown) {
  json body = pod();
  body["metadata"]["ownerReferences"][1] = {{"apiVersion", "apps.kruise.io/v1"},
                                            {"kind", "StatefulSet"},
                                            {"name", "db"},
                                            {"controller", true}};
  const pod_view seen = view(body);
  ASSERT_TRUE(seen.made_by.has_value());
  EXPECT_EQ(seen.made_by->kind, "StatefulSet of apps.kruise.io/v1");
  EXPECT_EQ(resource_of(seen.made_by->kind), "");
  EXPECT_EQ(resource_of("ReplicaSet"), "replicasets");
}

}  // namespace
}  // namespace tenure::kube::test
