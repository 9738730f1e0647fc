// What a store on Leases builds on holds for a real API server: what reads and watches show.

#include "servers/kubernetes_scene.hpp"
#include "servers/plain_http.hpp"

namespace tenure::servers {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RealKubernetesWatch : public KubernetesScene {
 protected:
  kubernetes_watch watch(const std::string& more) {
    return kubernetes_watch(as_operator(), watching(more));
  }
};

INSTANTIATE_TEST_SUITE_P(OverEtcd, RealKubernetesWatch, ::testing::ValuesIn(etcd_releases()),
                         [](const auto& info) { return info.param.name; });

TEST_P(RealKubernetesWatch, AListOfOneNameHasAVersionEvenWhileThereIsNone) {
  const std::string only = leases + "?fieldSelector=metadata.name%3D" + name_;
  const kubernetes_reply before = call("GET", only);
  EXPECT_EQ(before.status, 200);
  EXPECT_EQ(before.text("/kind"), "LeaseList");
  EXPECT_EQ(before.text("/apiVersion"), "coordination.k8s.io/v1");
  EXPECT_THAT(before.at("/items"), IsEmpty());
  const kubernetes_reply made = create();
  EXPECT_GT(number(made.version()), number(before.version()));
  const kubernetes_reply after = call("GET", only);
  ASSERT_EQ(after.at("/items").size(), 1U);
  EXPECT_EQ(after.at("/items/0/metadata/name"), name_);
  EXPECT_EQ(after.at("/items/0/kind"), json()) << "an item does not say what it is";
  EXPECT_GE(number(after.version()), number(made.version()));
}

TEST_P(RealKubernetesWatch, EachChangeAfterAVersionIsShownOnceAndInOrder) {
  const std::string from = call("GET", leases).version();
  const kubernetes_reply made = create();
  kubernetes_watch seen = watch("&resourceVersion=" + from);
  const kubernetes_reply written = put("b", made.version());
  ASSERT_EQ(remove().status, 200);
  const kubernetes_reply again = create("c");
  EXPECT_EQ(seen.types(4), "ADDED MODIFIED DELETED ADDED");
  EXPECT_EQ(seen.status(), 200);
  const std::vector<json> events = seen.events(4);
  EXPECT_EQ(events[0].at("object"), made.body);
  EXPECT_EQ(events[1].at("object"), written.body);
  EXPECT_EQ(events[3].at("object"), again.body);
  const json& gone = events[2].at("object");
  EXPECT_EQ(gone.at("spec"), written.body.at("spec")) << "what it was last";
  EXPECT_EQ(gone.at("metadata").at("uid"), made.uid());
  const std::uint64_t deleted = number(gone.at("metadata").at("resourceVersion"));
  EXPECT_GT(deleted, number(written.version())) << "the version of the deletion";
  EXPECT_LT(deleted, number(again.version()));
}

TEST_P(RealKubernetesWatch, AWatchWithoutAVersionBeginsWithWhatIsThere) {
  const kubernetes_reply made = create();
  for (const char* from : {"", "&resourceVersion=0"}) {
    kubernetes_watch seen = watch(from);
    EXPECT_EQ(seen.events(1).at(0).at("type"), "ADDED");
    EXPECT_EQ(seen.events(1).at(0).at("object"), made.body);
  }
}

TEST_P(RealKubernetesWatch, AWatchFromAVersionShowsNothingOfThatVersion) {
  const kubernetes_reply made = create();
  kubernetes_watch seen = watch("&resourceVersion=" + made.version());
  const kubernetes_reply written = put("b", made.version());
  EXPECT_EQ(seen.events(1).at(0).at("object"), written.body);
}

TEST_P(RealKubernetesWatch, InitialEventsEndWithABookmarkThatSaysSoUnlessEtcdIsOld) {
  const kubernetes_reply made = create();
  const std::string initial =
      "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  kubernetes_watch seen = watch(initial);
  // Debian 12's; that of Debian 13 can say how far a watch is.
  const json etcd =
      json::parse(body_of(ask(server_->etcd().port(), "GET", "/version")), nullptr, false);
  if (etcd.value("etcdserver", "").starts_with("3.4.")) {
    const json refused = seen.events(1).at(0);
    EXPECT_EQ(seen.status(), 200);
    EXPECT_EQ(refused.at("type"), "ERROR");
    EXPECT_EQ(refused.at("object").at("code"), 500);
    EXPECT_EQ(refused.at("object").at("reason"), "InternalError");
    EXPECT_THAT(refused.at("object").at("message"),
                HasSubstr("the required storage feature RequestWatchProgress is disabled"));
    return;
  }
  ASSERT_EQ(seen.types(2), "ADDED BOOKMARK");
  const json end = seen.events(2).at(1).at("object");
  EXPECT_EQ(end.at("kind"), "Lease");
  EXPECT_EQ(end.at("metadata").at("annotations").at("k8s.io/initial-events-end"), "true");
  EXPECT_GE(number(end.at("metadata").at("resourceVersion")), number(made.version()));
  ASSERT_EQ(remove().status, 200);
  EXPECT_EQ(seen.types(3), "ADDED BOOKMARK DELETED");
  kubernetes_watch of_nothing = watch(initial);
  EXPECT_EQ(of_nothing.types(1), "BOOKMARK");
}

TEST_P(RealKubernetesWatch, InitialEventsNeedTheirMatch) {
  const kubernetes_reply refused = call("GET", watching("&sendInitialEvents=true"));
  EXPECT_EQ(refused.reason(), "422 Invalid");
  EXPECT_THAT(refused.message(), HasSubstr("resourceVersionMatch"));
}

TEST_P(RealKubernetesWatch, ABookmarkTellsHowFarTheWatchIs) {
  const kubernetes_reply made = create();
  // One comes about two seconds before the watch ends, others each minute.
  kubernetes_watch seen =
      watch("&allowWatchBookmarks=true&timeoutSeconds=5&resourceVersion=" + made.version());
  ASSERT_EQ(put("b", made.version()).status, 200);
  EXPECT_EQ(seen.types(1), "MODIFIED");
  name_ += "-other";
  const kubernetes_reply other = create();
  const std::vector<json> events = seen.until_type("BOOKMARK");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_GE(number(events[1].at("object").at("metadata").at("resourceVersion")),
            number(other.version()));
}

TEST_P(RealKubernetesWatch, AWatchEndsWhenItsTimeIsOver) {
  create();
  kubernetes_watch seen = watch("&timeoutSeconds=1");
  EXPECT_TRUE(seen.ends());
  EXPECT_EQ(seen.status(), 200);
  EXPECT_EQ(seen.types(1), "ADDED");
}

TEST_P(RealKubernetesWatch, AVersionThatIsYetToComeIsTooLarge) {
  const kubernetes_reply made = create();
  const std::string later = std::to_string(number(made.version()) + 1'000'000);
  const kubernetes_reply listed =
      call("GET", leases + "?resourceVersionMatch=NotOlderThan&resourceVersion=" + later);
  EXPECT_EQ(listed.reason(), "504 Timeout");
  EXPECT_THAT(listed.message(), HasSubstr("Too large resource version"));
  EXPECT_EQ(listed.text("/details/causes/0/reason"), "ResourceVersionTooLarge");
}

TEST_P(RealKubernetesWatch, AVersionThatIsNoNumberIsRefused) {
  EXPECT_EQ(call("GET", watching("&resourceVersion=x")).reason(), "500 ");
  EXPECT_EQ(call("GET", leases + "?resourceVersion=x").reason(), "400 BadRequest");
}

TEST_P(RealKubernetesWatch, ALeaseThatLosesItsLabelIsDeletedForTheWatchOfThatLabel) {
  const kubernetes_reply made = create("a", {{"labels", {{"of", name_}}}});
  kubernetes_watch seen(as_operator(), leases + "?watch=1&labelSelector=of%3D" + name_ +
                                           "&resourceVersion=" + made.version());
  const kubernetes_reply written = merge({{"metadata", {{"labels", {{"of", "other"}}}}}});
  ASSERT_EQ(merge({{"metadata", {{"labels", {{"of", name_}}}}}}).status, 200);
  EXPECT_EQ(seen.types(2), "DELETED ADDED");
  const json gone = seen.events(2).at(0).at("object").at("metadata");
  EXPECT_EQ(gone.at("labels").at("of"), name_) << "as it last was for this watch";
  EXPECT_EQ(gone.at("resourceVersion"), written.version());
}

TEST_P(RealKubernetesWatch, AWatchOfAllShowsTheLeasesOfAllNames) {
  const std::string from = call("GET", leases).version();
  kubernetes_watch seen(as_operator(), leases + "?watch=1&resourceVersion=" + from);
  create();
  name_ += "-other";
  create();
  EXPECT_EQ(seen.types(2), "ADDED ADDED");
}

TEST_P(RealKubernetesWatch, AWatchOfAUserWithoutTheVerbIsForbidden) {
  const kubernetes_user blind = server_->add_user("blind", {.verbs = {"get", "list"}});
  const kubernetes_reply refused{server_->call_as(blind.token, "GET", watching(""))};
  EXPECT_EQ(refused.reason(), "403 Forbidden");
  EXPECT_THAT(refused.message(), HasSubstr("cannot watch resource"));
}

/// With a server of their own, which they disturb.
class RealKubernetesAlone : public KubernetesScene {
 protected:
  void SetUp() override {
    if (!can_run()) GTEST_SKIP() << why_not();
    name_ = "lease";
    path_ = leases + "/lease";
  }

  void start(std::size_t members) {
    server_ = &own_.emplace(kubernetes_releases().front(),
                            kubernetes_options{.members = members, .etcd = GetParam().name});
  }

  /// From the memory of the API server.
  kubernetes_reply read_old() { return call("GET", path_ + "?resourceVersion=0"); }

  std::optional<kubernetes_server> own_;
};

INSTANTIATE_TEST_SUITE_P(OverEtcd, RealKubernetesAlone, ::testing::Values(etcd_releases().front()),
                         [](const auto& info) { return info.param.name; });

TEST_P(RealKubernetesAlone, AReadShowsWhatAnyMemberHasWritten) {
  start(2);
  std::string version = create("0").version();
  for (int i = 1; i <= 50; ++i) {
    const kubernetes_reply written = put(std::to_string(i), version);
    version = written.version();
    EXPECT_EQ(call("GET", path_, nullptr, {.member = 1}).body, written.body);
    EXPECT_EQ(call("GET", leases, nullptr, {.member = 1}).text("/items/0/spec/holderIdentity"),
              std::to_string(i));
  }
}

TEST_P(RealKubernetesAlone, WhileEtcdDoesNotAnswerNothingIsSaidOfAWriteAndOldReadsGoOn) {
  start(1);
  for (const bool killed : {false, true}) {
    const kubernetes_reply made = create();
    EXPECT_TRUE(tests::eventually([&] { return read_old().uid() == made.uid(); }, between_looks));
    if (killed) {
      server_->etcd().kill(0);
    } else {
      server_->etcd().freeze(0);
    }
    const json wanted = lease("b", {{"resourceVersion", made.version()}});
    for (const kubernetes_reply& unknown :
         {call("PUT", path_ + "?timeout=1s", wanted), call("GET", path_ + "?timeout=1s"),
          call("DELETE", path_ + "?timeout=1s")}) {
      // When their time is over it closes some connections without an answer. A connection to
      // etcd that breaks is an error without a reason.
      EXPECT_THAT(unknown.reason(), AnyOf("504 Timeout", "0 ", "500 "));
    }
    EXPECT_EQ(read_old().uid(), made.uid()) << "from its memory";
    EXPECT_EQ(call("GET", "/readyz").status, 500);
    if (killed) {
      server_->etcd().start(0);
    } else {
      server_->etcd().thaw(0);
    }
    server_->wait_until_healthy();
    EXPECT_THAT(read().status, AnyOf(200, 404)) << "what was written may have happened";
    name_ += "-again";
    path_ += "-again";
  }
}

TEST_P(RealKubernetesAlone, AVersionThatIsForgottenIsGone) {
  start(1);
  const kubernetes_reply first = create();
  const kubernetes_reply second = put("b", first.version());
  EXPECT_THAT(server_->etcd().post("/v3/kv/compaction",
                                   json{{"revision", second.version()}, {"physical", true}}.dump()),
              HasSubstr("header"));
  // A server remembers by itself what has changed since its start.
  server_->kill(0);
  server_->start(0);
  server_->wait_until_healthy();
  const kubernetes_reply listed =
      call("GET", leases + "?resourceVersionMatch=Exact&resourceVersion=" + first.version());
  EXPECT_EQ(listed.reason(), "410 Expired");
  EXPECT_THAT(listed.message(), HasSubstr("too old"));
  kubernetes_watch seen(as_operator(), watching("&resourceVersion=" + first.version()));
  const json event = seen.events(1).at(0);
  EXPECT_EQ(seen.status(), 200);
  EXPECT_EQ(event.at("type"), "ERROR");
  EXPECT_EQ(event.at("object").at("kind"), "Status");
  EXPECT_EQ(event.at("object").at("code"), 410);
  EXPECT_EQ(event.at("object").at("reason"), "Expired");
  EXPECT_THAT(event.at("object").at("message"),
              HasSubstr("too old resource version: " + first.version() + " ("));
  EXPECT_TRUE(seen.ends());
}

TEST_P(RealKubernetesAlone, ARestoredEtcdCountsFromThere) {
  start(1);
  const kubernetes_reply made = create();
  server_->etcd().stop(0);
  const tests::temporary_directory kept;
  std::filesystem::copy(server_->etcd().data_of(0), kept / "data",
                        std::filesystem::copy_options::recursive);
  server_->etcd().start(0);
  server_->wait_until_healthy();
  const kubernetes_reply before = put("b", made.version());
  server_->stop(0);
  server_->etcd().stop(0);
  std::filesystem::remove_all(server_->etcd().data_of(0));
  std::filesystem::copy(kept / "data", server_->etcd().data_of(0),
                        std::filesystem::copy_options::recursive);
  server_->etcd().start(0);
  server_->start(0);
  server_->wait_until_healthy();
  EXPECT_EQ(read().body, made.body);
  EXPECT_EQ(put("c", before.version()).reason(), "409 Conflict");
  EXPECT_EQ(put("c", made.version()).status, 200);
}

/// What does not depend on etcd.
class RealKubernetesMembers : public RealKubernetesAlone {};

INSTANTIATE_TEST_SUITE_P(OverEtcd, RealKubernetesMembers,
                         ::testing::Values(etcd_releases().front()),
                         [](const auto& info) { return info.param.name; });

TEST_P(RealKubernetesMembers, AWatchGoesOnAtAnotherServer) {
  start(2);
  const kubernetes_reply made = create();
  kubernetes_watch seen = kubernetes_watch(server_->caller(server_->token(), 0),
                                           watching("&resourceVersion=" + made.version()));
  const kubernetes_reply written = put("b", made.version());
  EXPECT_EQ(seen.types(1), "MODIFIED");
  server_->kill(0);
  EXPECT_TRUE(seen.ends());
  kubernetes_watch after(server_->caller(server_->token(), 1),
                         watching("&resourceVersion=" + made.version()));
  EXPECT_EQ(after.events(1).at(0).at("object"), written.body) << "a version is that of etcd";
}

TEST_P(RealKubernetesMembers, AFrozenServerDoesNotAnswer) {
  start(2);
  server_->freeze(1);
  EXPECT_FALSE(server_->healthy(1));
  EXPECT_TRUE(server_->healthy(0));
  server_->thaw(1);
  server_->wait_until_healthy();
  server_->kill(1);
  EXPECT_FALSE(server_->healthy(1));
  server_->start(1);
  server_->wait_until_healthy();
}

}  // namespace
}  // namespace tenure::servers
