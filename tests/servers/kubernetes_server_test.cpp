// What a store on Leases builds on holds for a real API server: what each write answers.

#include "servers/kubernetes_scene.hpp"

namespace tenure::servers {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class RealKubernetes : public KubernetesScene {};

// The API server decides, whatever its etcd is.
INSTANTIATE_TEST_SUITE_P(OverEtcd, RealKubernetes, ::testing::Values(etcd_releases().front()),
                         [](const auto& info) { return info.param.name; });

TEST_P(RealKubernetes, ALeaseThatExistsCannotBeCreatedAgain) {
  create();
  const kubernetes_reply again = call("POST", leases, lease("b"));
  EXPECT_EQ(again.reason(), "409 AlreadyExists");
  EXPECT_EQ(again.message(), "leases.coordination.k8s.io \"" + name_ + "\" already exists");
  EXPECT_EQ(read().text("/spec/holderIdentity"), "a");
}

TEST_P(RealKubernetes, AWriteWithAnOldVersionConflictsAndChangesNothing) {
  const kubernetes_reply made = create();
  ASSERT_EQ(put("b", made.version()).status, 200);
  for (const kubernetes_reply& late :
       {put("c", made.version()), merge({{"metadata", {{"resourceVersion", made.version()}}},
                                         {"spec", {{"holderIdentity", "c"}}}})}) {
    EXPECT_EQ(late.reason(), "409 Conflict");
    EXPECT_THAT(late.message(), HasSubstr("the object has been modified; please apply your changes "
                                          "to the latest version and try again"));
  }
  EXPECT_EQ(read().text("/spec/holderIdentity"), "b");
}

TEST_P(RealKubernetes, AMergePatchWithoutAVersionIsUnconditionalAPutWithoutOneIsRefused) {
  const kubernetes_reply made = create();
  const kubernetes_reply refused = put("b", "");
  EXPECT_EQ(refused.reason(), "422 Invalid");
  EXPECT_THAT(refused.message(), HasSubstr("metadata.resourceVersion"));
  EXPECT_EQ(merge({{"spec", {{"holderIdentity", "b"}}}}).text("/spec/holderIdentity"), "b");
}

TEST_P(RealKubernetes, APutCreatesALeaseThatIsMissingEvenIfItNamesAVersion) {
  const kubernetes_reply made = put("a", "");
  EXPECT_EQ(made.status, 201);
  ASSERT_EQ(remove().status, 200);
  const kubernetes_reply again = put("b", made.version());
  EXPECT_EQ(again.status, 201);
  EXPECT_NE(again.uid(), made.uid());
}

TEST_P(RealKubernetes, ALeaseThatIsMissingIsNotCreatedByAPutThatNamesItsUidNorByAPatch) {
  const kubernetes_reply made = create();
  ASSERT_EQ(remove().status, 200);
  const kubernetes_reply with_uid =
      call("PUT", path_, lease("b", {{"uid", made.uid()}, {"resourceVersion", made.version()}}));
  EXPECT_EQ(with_uid.reason(), "409 Conflict");
  EXPECT_THAT(with_uid.message(), HasSubstr("Precondition failed: UID in precondition: " +
                                            made.uid() + ", UID in object meta: "));
  const json spec{{"holderIdentity", "b"}};
  for (const kubernetes_reply& missing :
       {merge({{"spec", spec}}),
        merge({{"metadata", {{"resourceVersion", made.version()}}}, {"spec", spec}}),
        patch({{{"op", "test"}, {"path", "/metadata/uid"}, {"value", made.uid()}}}), read()}) {
    EXPECT_EQ(missing.reason(), "404 NotFound");
    EXPECT_EQ(missing.message(), "leases.coordination.k8s.io \"" + name_ + "\" not found");
  }
}

TEST_P(RealKubernetes, AWriteThatNamesAnotherUidIsRefused) {
  const kubernetes_reply made = create();
  const std::string other = "11111111-1111-1111-1111-111111111111";
  const kubernetes_reply replaced =
      call("PUT", path_, lease("b", {{"uid", other}, {"resourceVersion", made.version()}}));
  EXPECT_EQ(replaced.reason(), "409 Conflict");
  EXPECT_THAT(replaced.message(), HasSubstr("Precondition failed: UID in precondition"));
  const kubernetes_reply patched =
      merge({{"metadata", {{"uid", other}}}, {"spec", {{"holderIdentity", "b"}}}});
  EXPECT_EQ(patched.reason(), "422 Invalid") << "as if it would change the uid";
  EXPECT_EQ(patched.text("/details/causes/0/field"), "metadata.uid");
  EXPECT_THAT(patched.message(), HasSubstr("field is immutable"));
  const kubernetes_reply late = merge({{"metadata", {{"uid", other}, {"resourceVersion", "1"}}}});
  EXPECT_EQ(late.reason(), "409 Conflict") << "the version comes first";
  EXPECT_EQ(read().version(), made.version());
}

/// All that it says when a test fails, without which or why.
constexpr const char* patch_is_wrong =
    "the server rejected our request due to an error in our request";

TEST_P(RealKubernetes, AJsonPatchWhoseTestFailsIsInvalidAndChangesNothing) {
  const kubernetes_reply made = create();
  const kubernetes_reply refused =
      patch({{{"op", "test"}, {"path", "/spec/holderIdentity"}, {"value", "b"}},
             {{"op", "replace"}, {"path", "/spec/holderIdentity"}, {"value", "c"}}});
  EXPECT_EQ(refused.reason(), "422 Invalid");
  EXPECT_EQ(refused.message(), patch_is_wrong);
  EXPECT_EQ(refused.at("/details"), json::object());
  EXPECT_EQ(read().version(), made.version());
}

TEST_P(RealKubernetes, AJsonPatchCanTestTheVersionAndTheUid) {
  const kubernetes_reply made = create();
  const auto tested = [&](const std::string& version, const std::string& uid) {
    return patch({{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", version}},
                  {{"op", "test"}, {"path", "/metadata/uid"}, {"value", uid}},
                  {{"op", "replace"}, {"path", "/spec/holderIdentity"}, {"value", "b"}}});
  };
  EXPECT_EQ(tested(made.version(), "other").reason(), "422 Invalid");
  const kubernetes_reply done = tested(made.version(), made.uid());
  EXPECT_EQ(done.status, 200);
  EXPECT_EQ(done.text("/spec/holderIdentity"), "b");
  EXPECT_EQ(tested(made.version(), made.uid()).reason(), "422 Invalid");
}

TEST_P(RealKubernetes, AJsonPatchThatTestsWhatIsMissingIsInvalid) {
  create();
  const kubernetes_reply refused =
      patch({{{"op", "test"}, {"path", "/metadata/annotations/a"}, {"value", "b"}}});
  EXPECT_EQ(refused.reason(), "422 Invalid");
  EXPECT_EQ(refused.message(), patch_is_wrong);
}

TEST_P(RealKubernetes, AnotherLeaseOfTheSameNameHasALargerVersionAndAnotherUid) {
  const kubernetes_reply first = create();
  const kubernetes_reply written = put("b", first.version());
  EXPECT_GT(number(written.version()), number(first.version()));
  const kubernetes_reply gone = remove();
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.text("/status"), "Success");
  EXPECT_EQ(gone.text("/details/uid"), first.uid());
  const kubernetes_reply second = create();
  EXPECT_GT(number(second.version()), number(written.version()));
  EXPECT_NE(second.uid(), first.uid());
  EXPECT_EQ(remove().status, 200);
  EXPECT_EQ(remove().reason(), "404 NotFound");
}

TEST_P(RealKubernetes, VersionsGrowAcrossObjects) {
  const kubernetes_reply first = create();
  name_ += "-other";
  const kubernetes_reply other = create();
  EXPECT_GT(number(other.version()), number(first.version()));
}

TEST_P(RealKubernetes, ADeletionMayHavePreconditions) {
  const kubernetes_reply first = create();
  const kubernetes_reply second = put("b", first.version());
  const auto only_if = [&](const json& what) {
    return remove({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", what}});
  };
  const kubernetes_reply late = only_if({{"resourceVersion", first.version()}});
  EXPECT_EQ(late.reason(), "409 Conflict");
  EXPECT_THAT(late.message(),
              HasSubstr("the ResourceVersion in the precondition (" + first.version() +
                        ") does not match the ResourceVersion in record (" + second.version()));
  EXPECT_EQ(only_if({{"uid", "other"}}).reason(), "409 Conflict");
  EXPECT_EQ(read().version(), second.version());
  EXPECT_EQ(only_if({{"uid", second.uid()}, {"resourceVersion", second.version()}}).status, 200);
}

TEST_P(RealKubernetes, AWriteThatChangesNothingLeavesTheVersion) {
  const kubernetes_reply made = create();
  EXPECT_EQ(put("a", made.version()).version(), made.version());
  EXPECT_EQ(merge({{"spec", {{"holderIdentity", "a"}}}}).version(), made.version());
  EXPECT_EQ(merge({{"metadata", {{"resourceVersion", made.version()}}}}).version(), made.version());
}

TEST_P(RealKubernetes, AFinalizerKeepsADeletedLease) {
  const kubernetes_reply made = create("a", {{"finalizers", {"example.org/a"}}});
  const kubernetes_reply marked = remove();
  EXPECT_EQ(marked.status, 200);
  EXPECT_EQ(marked.text("/kind"), "Lease");
  EXPECT_NE(marked.text("/metadata/deletionTimestamp"), "");
  EXPECT_GT(number(marked.version()), number(made.version()));
  const kubernetes_reply held = put("b", read().version());
  EXPECT_EQ(held.status, 200) << "without the finalizer it is gone";
  EXPECT_EQ(read().status, 404);
}

TEST_P(RealKubernetes, ATimeHasSixDigitsAfterTheSecond) {
  create();
  const auto renewed_at = [&](const json& text) {
    return merge({{"spec", {{"renewTime", text}}}});
  };
  const kubernetes_reply micro = renewed_at("2026-01-02T03:04:05.123456Z");
  EXPECT_EQ(micro.text("/spec/renewTime"), "2026-01-02T03:04:05.123456Z");
  const kubernetes_reply elsewhere = renewed_at("2026-01-02T05:04:05.123456+02:00");
  EXPECT_EQ(elsewhere.text("/spec/renewTime"), "2026-01-02T03:04:05.123456Z");
  for (const char* text : {"2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123Z",
                           "2026-01-02T03:04:05.123456789Z", "2026-01-02 03:04:05.123456Z", "1"}) {
    const kubernetes_reply patched = renewed_at(text);
    EXPECT_EQ(patched.reason(), "422 Invalid") << text;
    EXPECT_EQ(patched.text("/details/causes/0/field"), "patch");
    json whole = lease("a", {{"resourceVersion", read().version()}});
    whole["spec"]["renewTime"] = text;
    const kubernetes_reply replaced = call("PUT", path_, whole);
    EXPECT_EQ(replaced.reason(), "400 BadRequest") << text;
    for (const kubernetes_reply& one : {patched, replaced}) {
      EXPECT_THAT(one.message(), HasSubstr("parsing time \"" + std::string(text) +
                                           "\" as \"2006-01-02T15:04:05.000000Z07:00\""));
    }
  }
  const kubernetes_reply none = renewed_at(nullptr);
  EXPECT_EQ(none.status, 200);
  EXPECT_TRUE(none.at("/spec/renewTime").is_null());
}

TEST_P(RealKubernetes, ASpecIsValidated) {
  create();
  const auto with = [&](const char* field, const json& value) {
    return merge({{"spec", {{field, value}}}});
  };
  for (const int seconds : {0, -1}) {
    const kubernetes_reply refused = with("leaseDurationSeconds", seconds);
    EXPECT_EQ(refused.reason(), "422 Invalid");
    EXPECT_THAT(refused.message(), HasSubstr("spec.leaseDurationSeconds: Invalid value: " +
                                             std::to_string(seconds) + ": must be greater than 0"));
    EXPECT_EQ(refused.text("/details/causes/0/field"), "spec.leaseDurationSeconds");
  }
  EXPECT_EQ(with("leaseTransitions", -1).reason(), "422 Invalid");
  EXPECT_EQ(with("leaseDurationSeconds", 1.5).reason(), "422 Invalid");
  EXPECT_EQ(with("leaseDurationSeconds", 2147483647).status, 200);
  EXPECT_EQ(with("leaseDurationSeconds", 2147483648).reason(), "422 Invalid");
  EXPECT_EQ(with("holderIdentity", "").status, 200);
  EXPECT_EQ(with("holderIdentity", std::string(4096, 'x')).status, 200);
  EXPECT_EQ(with("holderIdentity", nullptr).at("/spec/holderIdentity"), json());
  EXPECT_EQ(merge({{"spec", nullptr}}).status, 200) << "an empty one is valid";
}

TEST_P(RealKubernetes, AnnotationsAreFree) {
  create();
  const json wanted{{"example.org/any", "{\"a\": \"\u00e9\"}\n"}, {"example.org/empty", ""}};
  EXPECT_EQ(merge({{"metadata", {{"annotations", wanted}}}}).at("/metadata/annotations"), wanted);
  const kubernetes_reply large =
      merge({{"metadata", {{"annotations", {{"example.org/a", std::string(256 * 1024, 'x')}}}}}});
  EXPECT_EQ(large.reason(), "422 Invalid");
  EXPECT_THAT(large.message(), HasSubstr("may not be more than 262144 bytes"));
  const kubernetes_reply key = merge({{"metadata", {{"annotations", {{"a b", "x"}}}}}});
  EXPECT_EQ(key.reason(), "422 Invalid");
  EXPECT_EQ(merge({{"metadata", {{"annotations", {{"example.org/a", 1}}}}}}).reason(),
            "422 Invalid");
}

TEST_P(RealKubernetes, AUnknownFieldIsDroppedWithAWarning) {
  const json with = lease("a");
  json more = with;
  more["spec"]["nobody"] = "knows";
  const kubernetes_reply made = call("POST", leases, more);
  EXPECT_EQ(made.status, 201);
  EXPECT_THAT(made.head, HasSubstr("unknown field"));
  EXPECT_EQ(made.body.at("spec"), with.at("spec"));
}

TEST_P(RealKubernetes, NamesAreThoseOfDns) {
  for (const char* name : {"A", "a_b", "a/b", ".a", ""}) {
    name_ = name;
    EXPECT_EQ(call("POST", leases, lease("a")).reason(), "422 Invalid") << name;
  }
  name_ = "a.b-c.0" + std::string(246, 'x');
  EXPECT_EQ(call("POST", leases, lease("a")).status, 201);
  name_ += "x";
  EXPECT_EQ(call("POST", leases, lease("a")).reason(), "422 Invalid");
}

TEST_P(RealKubernetes, EachFieldManagerHasAnEntryOfItsOwn) {
  const auto written_by = [&](const std::string& who, const std::string& holder) {
    return call("PUT", path_ + "?fieldManager=" + who,
                lease(holder, {{"resourceVersion", read().version()}}))
        .at("/metadata/managedFields");
  };
  EXPECT_EQ(create().at("/metadata/managedFields").size(), 1U);
  EXPECT_EQ(written_by("one", "b").size(), 2U);
  EXPECT_EQ(written_by("one", "c").size(), 2U) << "the same writer again adds nothing";
  const json three = written_by("two", "d");
  EXPECT_EQ(three.size(), 2U) << "one has no field any more";
  EXPECT_EQ(three.at(1).at("manager"), "two");
  EXPECT_EQ(three.at(1).at("operation"), "Update");
}

TEST_P(RealKubernetes, ATokenThatNobodyHasIsUnauthorized) {
  for (const std::string& token : {std::string("nobody"), server_->token() + "x"}) {
    const kubernetes_reply refused{server_->call_as(token, "GET", leases)};
    EXPECT_EQ(refused.reason(), "401 Unauthorized");
    EXPECT_EQ(refused.message(), "Unauthorized");
    EXPECT_EQ(refused.at("/details"), json());
  }
}

TEST_P(RealKubernetes, WithoutATokenItIsAnonymousWhoMayReadTheVersionOnly) {
  const kubernetes_reply refused{server_->call_as("", "GET", leases)};
  EXPECT_EQ(refused.reason(), "403 Forbidden");
  EXPECT_THAT(refused.message(), HasSubstr("User \"system:anonymous\" cannot list resource"));
  const kubernetes_reply version{server_->call_as("", "GET", "/version")};
  EXPECT_EQ(version.status, 200);
  EXPECT_THAT(version.text("/gitVersion"),
              StartsWith("v" + version.text("/major") + "." + version.text("/minor") + "."));
}

TEST_P(RealKubernetes, AForbiddenRequestIsToldVerbResourceNamespaceAndUser) {
  const kubernetes_user reader = server_->add_user("reader", {.verbs = {"get"}});
  create();
  EXPECT_EQ(server_->call_as(reader.token, "GET", path_).status, 200);
  const kubernetes_reply refused{server_->call_as(reader.token, "PUT", path_, lease("b").dump())};
  EXPECT_EQ(refused.reason(), "403 Forbidden");
  EXPECT_EQ(refused.message(),
            "leases.coordination.k8s.io \"" + name_ +
                "\" is forbidden: User \"system:serviceaccount:default:reader\" cannot update "
                "resource \"leases\" in API group \"coordination.k8s.io\" in the namespace "
                "\"default\"");
  EXPECT_EQ(refused.text("/details/name"), name_);
  EXPECT_EQ(refused.text("/details/group"), "coordination.k8s.io");
  EXPECT_EQ(refused.text("/details/kind"), "leases");
}

TEST_P(RealKubernetes, APutThatCreatesNeedsTheVerbCreateToo) {
  const kubernetes_user writer = server_->add_user("writer", {.verbs = {"update", "patch"}});
  const kubernetes_reply refused{server_->call_as(writer.token, "PUT", path_, lease("a").dump())};
  EXPECT_EQ(refused.reason(), "403 Forbidden");
  EXPECT_THAT(refused.message(), HasSubstr("cannot create resource"));
}

TEST_P(RealKubernetes, RightsCanBeTakenAndATokenEndsWithItsAccount) {
  const kubernetes_user user = server_->add_user("short", {});
  EXPECT_EQ(server_->call_as(user.token, "GET", leases).status, 200);
  server_->allow(user, {.verbs = {}});
  EXPECT_EQ(server_->call_as(user.token, "GET", leases).status, 403);
  ASSERT_EQ(call("DELETE", "/api/v1/namespaces/default/serviceaccounts/short").status, 200);
  EXPECT_TRUE(tests::eventually(
      [&] { return server_->call_as(user.token, "GET", leases).status == 401; }, between_looks));
}

TEST_P(RealKubernetes, TheMemberMayDoAllThatAnElectionNeeds) {
  const std::string& token = server_->member_user().token;
  const auto as_member = [&](std::string_view method, const std::string& path,
                             const json& body = nullptr, const kubernetes_request& more = {}) {
    return server_->call_as(token, method, path, body.is_null() ? "" : body.dump(), more).status;
  };
  EXPECT_EQ(as_member("POST", leases, lease("a")), 201);
  EXPECT_EQ(as_member("GET", path_), 200);
  EXPECT_EQ(as_member("GET", leases), 200);
  EXPECT_EQ(as_member("PUT", path_, lease("b", {{"resourceVersion", read().version()}})), 200);
  EXPECT_EQ(as_member("PATCH", path_, {{"spec", {{"holderIdentity", "c"}}}}, merge_patch), 200);
  EXPECT_EQ(as_member("DELETE", path_), 200);
  EXPECT_EQ(as_member("GET", "/api/v1/namespaces/default/pods"), 403);
  EXPECT_EQ(as_member("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"), 403);
}

TEST_P(RealKubernetes, ANamespaceThatIsMissingIsNotFound) {
  const std::string elsewhere = "/apis/coordination.k8s.io/v1/namespaces/nowhere/leases";
  const kubernetes_reply refused = call("POST", elsewhere, lease("a"));
  EXPECT_EQ(refused.reason(), "404 NotFound");
  EXPECT_EQ(refused.message(), "namespaces \"nowhere\" not found");
  EXPECT_EQ(refused.text("/details/kind"), "namespaces");
  const kubernetes_reply listed = call("GET", elsewhere);
  EXPECT_EQ(listed.status, 200) << "a read does not look";
  EXPECT_THAT(listed.at("/items"), IsEmpty());
  const kubernetes_reply missing = call("GET", elsewhere + "/a");
  EXPECT_EQ(missing.reason(), "404 NotFound");
  EXPECT_EQ(missing.text("/details/kind"), "leases");
}

TEST_P(RealKubernetes, NothingIsCreatedInANamespaceThatEnds) {
  const std::string space = "/api/v1/namespaces";
  ASSERT_EQ(call("POST", space, {{"metadata", {{"name", "ending"}}}}).status, 201);
  ASSERT_EQ(call("DELETE", space + "/ending").status, 200);
  const std::string there = "/apis/coordination.k8s.io/v1/namespaces/ending/leases";
  const kubernetes_reply refused = call("POST", there, lease("a"));
  EXPECT_EQ(refused.reason(), "403 Forbidden");
  EXPECT_THAT(refused.message(), HasSubstr("because it is being terminated"));
  EXPECT_EQ(refused.text("/details/causes/0/reason"), "NamespaceTerminating");
}

}  // namespace
}  // namespace tenure::servers
