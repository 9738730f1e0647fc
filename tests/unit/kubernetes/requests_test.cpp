#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "stores/kubernetes/codec.hpp"

namespace tenure::stores::kubernetes {
namespace {

using nlohmann::json;

constexpr std::int64_t noon_ms = 1'769'860'800'250;

const spec_change all_of_it{.holder = "a_tenure-a",
                            .duration_s = 15,
                            .acquired_ms = noon_ms,
                            .renewed_ms = noon_ms + 1,
                            .transitions = 4};

json spec_of_all() {
  return json::parse(R"({"holderIdentity": "a_tenure-a", "leaseDurationSeconds": 15,
                         "acquireTime": "2026-01-31T12:00:00.250000Z",
                         "renewTime": "2026-01-31T12:00:00.251000Z", "leaseTransitions": 4})");
}

lease_object seen(const annotations& notes = {}) {
  return {.name = "db",
          .uid = "u-1",
          .resource_version = 41,
          .notes = notes,
          .spec = R"({"holderIdentity":"b","leaseTransitions":3,"ofTheFuture":{"a":[1]},)"
                  R"("preferredHolder":"c"})"};
}

json test_of_spec() {
  return {{"op", "test"}, {"path", "/spec"}, {"value", json::parse(seen().spec)}};
}

/// What every PATCH begins with.
json tests_of_seen() {
  return {{{"op", "test"}, {"path", "/metadata/uid"}, {"value", "u-1"}},
          {{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", "41"}},
          test_of_spec()};
}

TEST(KubernetesRequest, ACreationSaysAllOfALease) {
  EXPECT_EQ(json::parse(creation("db.slot-1", {{"tenure.dev/election", "db"}}, all_of_it,
                                 {{"tenure.dev/epoch", "2"}, {"tenure.dev/term", std::nullopt}})),
            (json{{"apiVersion", "coordination.k8s.io/v1"},
                  {"kind", "Lease"},
                  {"metadata",
                   {{"name", "db.slot-1"},
                    {"labels", {{"tenure.dev/election", "db"}}},
                    {"annotations", {{"tenure.dev/epoch", "2"}}}}},
                  {"spec", spec_of_all()}}));
}

TEST(KubernetesRequest, ACreationWithoutLabelsAndAnnotationsHasNone) {
  EXPECT_EQ(json::parse(creation("db", {}, {}, {})), (json{{"apiVersion", "coordination.k8s.io/v1"},
                                                           {"kind", "Lease"},
                                                           {"metadata", {{"name", "db"}}},
                                                           {"spec", json::object()}}));
}

TEST(KubernetesRequest, AWriteIsExecutedOnlyIfTheLeaseIsWhatWasSeen) {
  json expected = tests_of_seen();
  json spec = json::parse(seen().spec);
  spec.update(spec_of_all());
  expected.push_back({{"op", "replace"}, {"path", "/spec"}, {"value", spec}});
  EXPECT_EQ(json::parse(patch(seen(), {}, all_of_it, {})), expected);
}

TEST(KubernetesRequest, AWriteKeepsWhatItDoesNotChange) {
  json spec = json::parse(seen().spec);
  spec["renewTime"] = "2026-01-31T12:00:00.250000Z";
  const json sent = json::parse(patch(seen(), {}, {.renewed_ms = noon_ms}, {}));
  EXPECT_EQ(sent.back(), (json{{"op", "replace"}, {"path", "/spec"}, {"value", spec}}));
}

TEST(KubernetesRequest, ANewHolderForgetsWhoWasPreferred) {
  const json sent = json::parse(patch(seen(), {}, {.holder = "a", .forget_preferred = true}, {}));
  EXPECT_EQ(sent[2], test_of_spec()) << "the test is of the spec as it was";
  EXPECT_FALSE(sent.back()["value"].contains("preferredHolder"));
  EXPECT_EQ(sent.back()["value"]["ofTheFuture"], json::parse(R"({"a":[1]})"));
}

/// RFC 6901: a slash in a name is written ~1, a tilde ~0.
TEST(KubernetesRequest, AnnotationsAreAddedAndTakenAwayOneByOne) {
  const lease_object lease = seen({{"tenure.dev/term", "x"}, {"other.example/a~b", "kept"}});
  const json sent = json::parse(patch(lease, {}, {},
                                      {{"tenure.dev/epoch", "2"},
                                       {"tenure.dev/term", std::nullopt},
                                       {"tenure.dev/release", std::nullopt},
                                       {"x/a~b", "c"}}));
  ASSERT_EQ(sent.size(), 7U) << sent;
  EXPECT_EQ(
      sent[4],
      (json{{"op", "add"}, {"path", "/metadata/annotations/tenure.dev~1epoch"}, {"value", "2"}}));
  EXPECT_EQ(sent[5], (json{{"op", "remove"}, {"path", "/metadata/annotations/tenure.dev~1term"}}))
      << "but not tenure.dev/release, which is not there";
  EXPECT_EQ(sent[6],
            (json{{"op", "add"}, {"path", "/metadata/annotations/x~1a~0b"}, {"value", "c"}}));
}

TEST(KubernetesRequest, TheFirstAnnotationsMakeTheirFolder) {
  const json sent = json::parse(
      patch(seen(), {}, {}, {{"tenure.dev/epoch", "2"}, {"tenure.dev/term", std::nullopt}}));
  ASSERT_EQ(sent.size(), 5U) << sent;
  EXPECT_EQ(sent[4], (json{{"op", "add"},
                           {"path", "/metadata/annotations"},
                           {"value", {{"tenure.dev/epoch", "2"}}}}));
  EXPECT_EQ(json::parse(patch(seen(), {}, {}, {{"tenure.dev/term", std::nullopt}})).size(), 4U)
      << "nothing is taken away from nothing";
}

/// An API server compares the texts of strings, and writes its own as Go does.
TEST(KubernetesRequest, APatchEscapesAsGoDoes) {
  lease_object before = seen();
  before.spec = R"({"holderIdentity":"R&D <1>\u2028\u2029 \\u0026 \u00e4"})";
  const std::string sent = patch(before, {}, {.holder = "a&b"}, {{"tenure.dev/term", "<"}});
  EXPECT_THAT(sent,
              testing::HasSubstr("\"R\\u0026D \\u003c1\\u003e\\u2028\\u2029 \\\\u0026 \xc3\xa4\""));
  EXPECT_EQ(sent.find_first_of("&<>"), std::string::npos) << sent;
  EXPECT_EQ(json::parse(sent)[3]["value"]["holderIdentity"], "a&b");
}

TEST(KubernetesRequest, APatchAddsTheLabelsThatAreMissing) {
  const auto added = [](const annotations& has) {
    lease_object before = seen();
    before.labels = has;
    const json sent = json::parse(patch(before, {{"tenure.dev/election", "db"}}, {}, {}));
    return sent.size() == 4 ? json() : sent[4];
  };
  EXPECT_EQ(added({}), (json{{"op", "add"},
                             {"path", "/metadata/labels"},
                             {"value", {{"tenure.dev/election", "db"}}}}));
  EXPECT_EQ(
      added({{"app", "x"}}),
      (json{{"op", "add"}, {"path", "/metadata/labels/tenure.dev~1election"}, {"value", "db"}}));
  EXPECT_EQ(added({{"tenure.dev/election", "other"}}), json()) << "it is not ours to take";
}

// What a write leaves -----------------------------------------------------------------------------

lease_object written_lease() {
  return {.name = "db",
          .uid = "u-1",
          .resource_version = 42,
          .notes = {{"a", "1"}, {"b", "2"}},
          .holder = "a_tenure-a",
          .duration_s = 15,
          .transitions = 3,
          .renewed_ms = noon_ms};
}

TEST(KubernetesResult, IsTheLeaseWithWhatWasWritten) {
  const lease_object shown = written_lease();
  lease_object before = shown;
  before.resource_version = 41;
  before.renewed_ms = noon_ms - 1000;
  before.notes = {{"b", "2"}, {"c", "3"}};
  const spec_change renewal{.renewed_ms = noon_ms};
  EXPECT_TRUE(is_result(shown, &before, {}, renewal, {{"a", "1"}, {"c", std::nullopt}}));
  EXPECT_FALSE(is_result(shown, &before, {}, {}, {})) << "the time of the renewal is not as it was";
  EXPECT_FALSE(is_result(shown, &before, {}, renewal, {{"a", "2"}}));
  EXPECT_FALSE(is_result(shown, &before, {}, renewal, {{"b", std::nullopt}}));
  EXPECT_FALSE(is_result(shown, &before, {}, renewal, {{"d", "4"}}));
  EXPECT_TRUE(is_result(shown, &shown, {}, {}, {}))
      << "a write that changes nothing gives no version";
}

TEST(KubernetesResult, KeepsWhatWasNotWritten) {
  const lease_object before = written_lease();
  const auto is_good = [&](const std::function<void(lease_object&)>& change) {
    lease_object shown = before;
    change(shown);
    return is_result(shown, &before, {}, {}, {});
  };
  EXPECT_TRUE(is_good([](lease_object& one) { one.resource_version = 50; }));
  EXPECT_TRUE(is_good([](lease_object& one) { one.labels.emplace("of", "an operator"); }));
  EXPECT_FALSE(is_good([](lease_object& one) { one.resource_version = 41; }));
  EXPECT_FALSE(is_good([](lease_object& one) { one.uid = "u-2"; }));
  EXPECT_FALSE(is_good([](lease_object& one) { one.holder = "b"; }));
  EXPECT_FALSE(is_good([](lease_object& one) { one.duration_s.reset(); }));
  EXPECT_FALSE(is_good([](lease_object& one) { one.transitions = 4; }));
  EXPECT_FALSE(is_good([](lease_object& one) { one.renewed_ms = 0; }));
}

TEST(KubernetesResult, OfACreationHasNothingElse) {
  lease_object shown = written_lease();
  shown.transitions = 4;
  shown.renewed_ms = noon_ms + 1;
  EXPECT_TRUE(is_result(shown, nullptr, {}, all_of_it, {{"a", "1"}}));
  EXPECT_FALSE(is_result(shown, nullptr, {}, {.holder = "a_tenure-a"}, {}));
  EXPECT_FALSE(is_result(shown, nullptr, {{"of", "db"}}, all_of_it, {{"a", "1"}}));
  shown.labels.emplace("of", "db");
  EXPECT_TRUE(is_result(shown, nullptr, {{"of", "db"}}, all_of_it, {{"a", "1"}}));
  EXPECT_TRUE(is_result({.name = "db", .uid = "u", .resource_version = 7}, nullptr, {}, {}, {}));
}

TEST(KubernetesRequest, ADeletionIsOfTheLeaseThatWasSeen) {
  EXPECT_EQ(json::parse(deletion(seen())),
            json::parse(R"({"apiVersion": "v1", "kind": "DeleteOptions",
                            "preconditions": {"uid": "u-1", "resourceVersion": "41"}})"));
}

TEST(KubernetesRequest, WhatIsNotUtf8IsReplaced) {
  const json sent = json::parse(creation("db", {}, {.holder = "a\xff"}, {}));
  EXPECT_EQ(sent["spec"]["holderIdentity"], "a\ufffd");
}

}  // namespace
}  // namespace tenure::stores::kubernetes
