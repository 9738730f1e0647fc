#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "stores/kubernetes/codec.hpp"

/// The form of the good ones is that of kube-apiserver 1.35.
namespace tenure::stores::kubernetes {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

const std::string uid = "0d9f6b1e-9f3b-4b1c-8a53-0c7f7f3f9a11";

json lease_json() {
  return json::parse(R"({
    "kind": "Lease", "apiVersion": "coordination.k8s.io/v1",
    "metadata": {"name": "db", "namespace": "default",
                 "uid": "0d9f6b1e-9f3b-4b1c-8a53-0c7f7f3f9a11", "resourceVersion": "41",
                 "creationTimestamp": "2026-01-31T12:00:00Z",
                 "labels": {"tenure.dev/election": "db"},
                 "annotations": {"tenure.dev/term": "3 40 tenure-b"},
                 "managedFields": [{"manager": "tenure", "operation": "Update"}]},
    "spec": {"holderIdentity": "b_tenure-b", "leaseDurationSeconds": 15,
             "acquireTime": "2026-01-31T12:00:00.000000Z",
             "renewTime": "2026-01-31T12:00:05.250000Z", "leaseTransitions": 3}})");
}

json list_json() {
  json first = lease_json();
  json second = lease_json();
  second["metadata"]["name"] = "db.slot-1";
  second["metadata"]["resourceVersion"] = "44";
  return {{"kind", "LeaseList"},
          {"apiVersion", "coordination.k8s.io/v1"},
          {"metadata", {{"resourceVersion", "44"}}},
          {"items", {first, second}}};
}

std::string why(const auto& reply) {
  return reply ? "it was accepted" : reply.error().why;
}

/// A document of which the member at `at` is `to`.
std::string with(json document, const std::string& at, const json& to) {
  document[json::json_pointer(at)] = to;
  return document.dump();
}

/// A document without the member `name` of what is at `at`.
std::string without(json document, const std::string& at, const std::string& name) {
  EXPECT_EQ(document.at(json::json_pointer(at)).erase(name), 1U) << at << "/" << name;
  return document.dump();
}

// A Lease ---------------------------------------------------------------------------------------

TEST(KubernetesReply, ALeaseIsReadWithAllThatCounts) {
  const auto read = parse_lease(lease_json().dump(), "db");
  ASSERT_TRUE(read) << why(read);
  EXPECT_EQ(read->name, "db");
  EXPECT_EQ(read->uid, uid);
  EXPECT_EQ(read->resource_version, 41U);
  EXPECT_EQ(read->renewed_ms, 1'769'860'805'250);
  EXPECT_EQ(read->holder, "b_tenure-b");
  EXPECT_EQ(read->duration_s, 15);
  EXPECT_EQ(read->transitions, 3);
  EXPECT_THAT(read->labels, ElementsAre(Pair("tenure.dev/election", "db")));
  EXPECT_EQ(read->note("tenure.dev/term"), "3 40 tenure-b");
  EXPECT_EQ(read->note("tenure.dev/release"), "");
  EXPECT_EQ(json::parse(read->spec), lease_json()["spec"]);
}

TEST(KubernetesReply, ALeaseWithoutASpecIsFree) {
  for (const std::string& body :
       {without(lease_json(), "", "spec"), with(lease_json(), "/spec", nullptr),
        with(lease_json(), "/spec", json::object())}) {
    const auto read = parse_lease(body, "db");
    ASSERT_TRUE(read) << why(read);
    EXPECT_EQ(read->holder, "");
    EXPECT_EQ(read->duration_s, std::nullopt);
    EXPECT_EQ(read->transitions, 0);
    EXPECT_EQ(read->spec, "{}");
  }
}

TEST(KubernetesReply, WhatOnlyCoordinatedElectionHasIsReadToo) {
  json lease = lease_json();
  lease["spec"]["strategy"] = "OldestEmulationVersion";
  lease["spec"]["preferredHolder"] = "c";
  const auto read = parse_lease(lease.dump(), "db");
  ASSERT_TRUE(read) << why(read);
  EXPECT_EQ(read->strategy, "OldestEmulationVersion");
  EXPECT_EQ(read->preferred, "c");
}

TEST(KubernetesReply, WhatThisReleaseDoesNotKnowIsKeptInTheSpec) {
  const auto read = parse_lease(with(lease_json(), "/spec/ofTheFuture", {{"a", 1}}), "db");
  ASSERT_TRUE(read) << why(read);
  EXPECT_EQ(json::parse(read->spec)["ofTheFuture"]["a"], 1) << "a write compares all of it";
}

TEST(KubernetesReply, ALeaseThatLacksWhatCountsIsMalformed) {
  for (const auto& [at, name] :
       {std::pair("", "kind"), std::pair("", "apiVersion"), std::pair("", "metadata"),
        std::pair("/metadata", "name"), std::pair("/metadata", "uid"),
        std::pair("/metadata", "resourceVersion")}) {
    EXPECT_FALSE(parse_lease(without(lease_json(), at, name), "db")) << at << "/" << name;
  }
}

TEST(KubernetesReply, ALeaseOfWrongTypesIsMalformed) {
  struct row {
    const char* at;
    json to;
    const char* why;
  };
  for (const row& r : {
           row{"/kind", "Status", "kind is another one"},
           row{"/apiVersion", "coordination.k8s.io/v1beta1", "apiVersion is another one"},
           row{"/metadata", "m", "is not an object"},
           row{"/metadata/name", "other", "name is that of another Lease"},
           row{"/metadata/name", "db\n", "name is not printable"},
           row{"/metadata/uid", "", "uid is not an id"},
           row{"/metadata/uid", std::string(129, 'a'), "uid is not an id"},
           row{"/metadata/uid", 7, "uid is not a string"},
           row{"/metadata/resourceVersion", "0", "resourceVersion is not a number of a version"},
           row{"/metadata/resourceVersion", "-1", "resourceVersion is not a number of a version"},
           row{"/metadata/resourceVersion", "41a", "resourceVersion is not a number of a version"},
           row{"/metadata/resourceVersion", "9223372036854775808",
               "resourceVersion is not a number of a version"},
           row{"/metadata/resourceVersion", 41, "resourceVersion is not a string"},
           row{"/metadata/annotations", json::array(), "annotations is not an object"},
           row{"/metadata/annotations/a", 1, "annotations has something that is not a text"},
           row{"/metadata/labels/a", nullptr, "labels has something that is not a text"},
           row{"/spec", "s", "is not an object"},
           row{"/spec/holderIdentity", 7, "holderIdentity is not a string"},
           row{"/spec/leaseDurationSeconds", "15", "leaseDurationSeconds is not a whole number"},
           row{"/spec/leaseDurationSeconds", 1.5, "leaseDurationSeconds is not a whole number"},
           row{"/spec/leaseDurationSeconds", -1, "leaseDurationSeconds is negative"},
           row{"/spec/leaseTransitions", 2'147'483'648, "leaseTransitions is not a number"},
           row{"/spec/leaseTransitions", -1, "leaseTransitions is negative"},
           row{"/spec/renewTime", 7, "renewTime is not a string"},
           row{"/spec/preferredHolder", json::array(), "preferredHolder is not a string"},
       }) {
    EXPECT_THAT(why(parse_lease(with(lease_json(), r.at, r.to), "db")), HasSubstr(r.why))
        << r.at << " " << r.to;
  }
}

TEST(KubernetesReply, ATimeThatCannotBeReadIsNone) {
  const auto read = parse_lease(with(lease_json(), "/spec/renewTime", "yesterday"), "db");
  ASSERT_TRUE(read) << why(read) << "; no time of another machine counts";
  EXPECT_EQ(read->renewed_ms, 0);
}

TEST(KubernetesReply, AFieldThatIsThereTwiceIsNotChosenFrom) {
  std::string body = lease_json().dump();
  body.insert(body.find(R"("holderIdentity")"), R"("holderIdentity":"a_tenure-a",)");
  EXPECT_THAT(why(parse_lease(body, "db")), HasSubstr("it has a field twice"));
}

TEST(KubernetesReply, WhatIsNotALeaseAtAllIsMalformed) {
  for (const std::string& body :
       {std::string(), std::string("null"), std::string("[]"), std::string("{}"),
        std::string("<html></html>"), lease_json().dump().substr(0, 200), list_json().dump(),
        std::string(R"({"kind":"Status","apiVersion":"v1","status":"Success"})"),
        lease_json().dump() + lease_json().dump(), std::string(1000, '[')}) {
    const auto read = parse_lease(body, "db");
    ASSERT_FALSE(read) << body;
    EXPECT_FALSE(read.error().why.empty());
  }
}

// Lists -----------------------------------------------------------------------------------------

TEST(KubernetesReply, AListHasItsLeasesAndItsVersion) {
  const auto read = parse_list(list_json().dump());
  ASSERT_TRUE(read) << why(read);
  EXPECT_EQ(read->resource_version, 44U);
  ASSERT_THAT(read->items, SizeIs(2));
  EXPECT_EQ(read->items[1].name, "db.slot-1");
}

TEST(KubernetesReply, ItemsOfAListNeedNoKind) {
  json list = list_json();
  for (json& one : list["items"]) {
    one.erase("kind");
    one.erase("apiVersion");
  }
  EXPECT_TRUE(parse_list(list.dump())) << "the API server leaves it out";
}

TEST(KubernetesReply, AnEmptyListIsEmpty) {
  for (const json& nothing : {json(nullptr), json::array()}) {
    const auto read = parse_list(with(list_json(), "/items", nothing));
    ASSERT_TRUE(read) << why(read);
    EXPECT_THAT(read->items, SizeIs(0));
  }
}

TEST(KubernetesReply, AListThatIsPartOfOneOrContradictsItselfIsMalformed) {
  struct row {
    const char* at;
    json to;
    const char* why;
  };
  for (const row& r : {
           row{"/kind", "Lease", "kind is another one"},
           row{"/metadata/resourceVersion", "", "resourceVersion is not a number"},
           row{"/metadata/resourceVersion", "43", "items are of a later version"},
           row{"/metadata/continue", "token", "continue says that the list is a part"},
           row{"/items", "x", "items is not a list"},
           row{"/items/1/metadata/name", "db", "items have a name twice"},
           row{"/items/0", nullptr, "is not an object"},
           row{"/items/0/metadata/uid", "", "uid is not an id"},
       }) {
    EXPECT_THAT(why(parse_list(with(list_json(), r.at, r.to))), HasSubstr(r.why))
        << r.at << " " << r.to;
  }
}

// Watches ---------------------------------------------------------------------------------------

json event_json(const std::string& type) {
  return {{"type", type}, {"object", lease_json()}};
}

TEST(KubernetesReply, AnEventSaysWhatHasHappenedToALease) {
  using enum watch_event::type;
  for (const auto& [name, type] : {std::pair("ADDED", added), std::pair("MODIFIED", modified),
                                   std::pair("DELETED", deleted)}) {
    const auto read = parse_event(event_json(name).dump());
    ASSERT_TRUE(read) << why(read);
    EXPECT_EQ(read->what, type);
    EXPECT_EQ(read->object, *parse_lease(lease_json().dump(), "db"));
    EXPECT_EQ(read->resource_version, 41U);
  }
}

TEST(KubernetesReply, ABookmarkHasAVersionAlone) {
  const json bookmark{{"type", "BOOKMARK"},
                      {"object",
                       {{"kind", "Lease"},
                        {"apiVersion", "coordination.k8s.io/v1"},
                        {"metadata", {{"resourceVersion", "99"}, {"creationTimestamp", nullptr}}},
                        {"spec", json::object()}}}};
  const auto read = parse_event(bookmark.dump());
  ASSERT_TRUE(read) << why(read);
  EXPECT_EQ(read->what, watch_event::type::bookmark);
  EXPECT_EQ(read->resource_version, 99U);
  EXPECT_FALSE(parse_event(with(bookmark, "/object/metadata/resourceVersion", "")));
  EXPECT_FALSE(parse_event(with(bookmark, "/object/kind", "Pod")));
}

TEST(KubernetesReply, AnErrorOfAWatchIsAStatus) {
  const auto read = parse_event(
      R"x({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},)x"
      R"x("status":"Failure","message":"too old resource version: 1 (5)","reason":"Expired",)x"
      R"x("code":410}})x");
  ASSERT_TRUE(read) << why(read);
  EXPECT_EQ(read->what, watch_event::type::error);
  EXPECT_EQ(read->error.code, 410);
  EXPECT_EQ(read->error.reason, "Expired");
  EXPECT_EQ(read->error.message, "too old resource version: 1 (5)");
}

TEST(KubernetesReply, AnEventThatIsNotOneOfThoseIsMalformed) {
  for (const std::string& body :
       {std::string(), std::string("{}"), event_json("RENAMED").dump(), event_json("").dump(),
        event_json("added").dump(), with(event_json("ADDED"), "/type", 1),
        without(event_json("ADDED"), "", "object"), with(event_json("ADDED"), "/object", "x"),
        with(event_json("MODIFIED"), "/object/kind", "Pod"),
        with(event_json("DELETED"), "/object/metadata/name", ""),
        with(event_json("MODIFIED"), "/object/metadata/resourceVersion", "now"),
        with(event_json("ERROR"), "/object", json{{"code", "many"}})}) {
    EXPECT_FALSE(parse_event(body)) << body;
  }
}

// Status and version ----------------------------------------------------------------------------

TEST(KubernetesReply, AStatusIsReadOfPrintableText) {
  const auto read = parse_status(
      R"({"kind":"Status","status":"Failure","message":"no\n\u001b[2Jgood","reason":"Conflict",)"
      R"("details":{"name":"db","causes":[{"field":"spec"}]},"code":409})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->code, 409);
  EXPECT_EQ(read->reason, "Conflict");
  EXPECT_THAT(read->message, testing::Not(testing::AnyOf(HasSubstr("\n"), HasSubstr("\x1b"))));
  EXPECT_TRUE(read->has_causes);
}

TEST(KubernetesReply, CausesAreThereOnlyIfSomeAreNamed) {
  for (const char* details : {"null", "{}", R"({"causes":[]})", R"({"causes":null})", R"("x")"}) {
    const auto read =
        parse_status(R"({"kind":"Status","code":422,"details":)" + std::string(details) + "}");
    ASSERT_TRUE(read) << details;
    EXPECT_FALSE(read->has_causes) << details;
  }
}

TEST(KubernetesReply, WhatIsNotAStatusIsNone) {
  for (const char* body : {"", "{}", "[]", "404 page not found", R"({"kind":"Lease","code":404})",
                           R"({"kind":"Status","code":"x"})", R"({"kind":"Status","reason":7})"}) {
    EXPECT_FALSE(parse_status(body)) << body;
  }
}

TEST(KubernetesReply, ADeletionIsAnsweredWithSuccessOrTheLease) {
  const std::string success = R"({"kind":"Status","apiVersion":"v1","status":"Success"})";
  EXPECT_TRUE(is_deletion(success, "db"));
  EXPECT_TRUE(is_deletion(lease_json().dump(), "db")) << "one that has a finalizer";
  EXPECT_FALSE(is_deletion(lease_json().dump(), "other"));
  for (const char* body : {"", "{}", "null", "[]", "<html></html>", R"({"status":"Success"})",
                           R"({"kind":"Status","status":"Failure","code":409})",
                           R"({"kind":"Status"})", R"({"kind":"Status","status":1})"}) {
    EXPECT_FALSE(is_deletion(body, "db")) << body;
  }
}

TEST(KubernetesReply, AServerSaysItsVersion) {
  EXPECT_EQ(parse_version(R"({"major":"1","minor":"35","gitVersion":"v1.35.4"})").value_or(""),
            "v1.35.4");
  for (const char* body : {"", "{}", R"({"gitVersion":""})", R"({"gitVersion":1})",
                           R"({"gitVersion":"v1\n"})", "[]"}) {
    EXPECT_FALSE(parse_version(body)) << body;
  }
}

}  // namespace
}  // namespace tenure::stores::kubernetes
