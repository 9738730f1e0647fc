// What only a real API server can show.

#include "cluster_scene.hpp"

namespace tenure::tests {
namespace {

using stores::grant;
using stores::released;
using stores::renewal;

/// An API server compares what a test of a JSON Patch expects byte by byte.
TEST_F(KubernetesCluster, AHolderOfAnyNameRenewsReleasesAndIsFollowed) {
  for (const std::string& name :
       {std::string("R&D-1"), std::string("<a>\"b\\c'"), std::string("\xe2\x80\xa8\xe2\x80\xa9"),
        std::string("\xc3\xa4\xf0\x9f\x90\x98\x7f"), std::string("\\u0026")}) {
    SCOPED_TRACE(name);
    auto a = join(settings(name));
    const grant g = a->hold();
    for (int i = 0; i < 2; ++i) {
      const auto renewed = a->renew({{.which = core::election_index{0}, .version = g.version}});
      ASSERT_TRUE(std::holds_alternative<renewal>(renewed))
          << std::get<stores::unknown>(renewed).why;
      EXPECT_TRUE(std::get<renewal>(renewed).lost.empty());
    }
    ASSERT_TRUE(std::holds_alternative<released>(a->release(0, g.version)));
    auto b = join(settings("b"));
    const grant next = b->hold();
    EXPECT_GT(next.version, g.version);
    b->release(0, next.version);
  }
}

/// Of a dead holder, by the test of what it has left.
TEST_F(KubernetesCluster, AHolderOfAnyNameIsTakenOverFrom) {
  const std::string name = "R&D <\xe2\x80\xa8>";
  const core::duration ttl = std::chrono::seconds(3);
  join(settings(name, ttl))->hold();
  auto b = join(settings("b", ttl));
  const auto seen = b->watch();
  ASSERT_TRUE(loop_.run_until(
      [&] { return seen->shows([](const core::observation& o) { return o.holders.empty(); }); }));
  EXPECT_TRUE(std::holds_alternative<grant>(b->acquire()));
}

/// For `kubectl get lease -o custom-columns`: while a term lasts, and of no term before.
TEST_F(KubernetesCluster, ALeaseSaysInPlainWordsWhoHoldsIt) {
  const auto says = [this](const std::string& annotation) {
    return lease("db0")
        .at("metadata")
        .value("annotations", nlohmann::json::object())
        .value(annotation, "nothing");
  };
  auto a = join(settings("pod-0"));
  const grant g = a->hold();
  ASSERT_TRUE(loop_.run_until([&] { return says("tenure.dev/holder") == "pod-0"; }));
  EXPECT_EQ(says("tenure.dev/version"), std::to_string(core::number(g.version)));
  ASSERT_TRUE(std::holds_alternative<released>(a->release(0, g.version)));
  EXPECT_EQ(says("tenure.dev/holder"), "nothing");
  EXPECT_EQ(says("tenure.dev/version"), "nothing");

  a->hold();
  ASSERT_TRUE(loop_.run_until([&] { return says("tenure.dev/holder") == "pod-0"; }));
  ASSERT_EQ(server_
                ->call("PATCH", path_of_leases() + "/db0", R"({"spec": {"holderIdentity": ""}})",
                       {.content_type = "application/merge-patch+json"})
                .status,
            200);
  auto b = join(settings("pod-1"));
  const grant next = b->hold();
  EXPECT_NE(says("tenure.dev/holder"), "pod-0") << "an operator has ended its term";
  ASSERT_TRUE(loop_.run_until([&] { return says("tenure.dev/holder") == "pod-1"; }));
  EXPECT_EQ(says("tenure.dev/version"), std::to_string(core::number(next.version)));
}

TEST_F(KubernetesCluster, ANamespaceThatDoesNotExistEndsTheStart) {
  stores::setup with = settings("a");
  with.name_space = "nowhere";
  with.secure.token_file = server_->token_file();
  member a(loop_, with);
  const auto opened = a.open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text,
              testing::HasSubstr("namespaces \"nowhere\" not found; create the namespace"));
}

/// A standby writes nothing: without a question, it would find out when it is to take over.
TEST_F(KubernetesCluster, VerbsThatARoleLacksAreNamedAtTheStart) {
  const auto warnings = [this](const std::string& name, std::vector<std::string> verbs,
                               bool announce) {
    stores::setup with = settings("a");
    with.announce = announce;
    with.secure.token_file =
        server_->add_user(name, {.verbs = std::move(verbs), .name_space = name_space_}, name_space_)
            .token_file;
    member a(loop_, with);
    const auto opened = a.open();
    EXPECT_TRUE(opened) << opened.error().text;
    return opened ? opened->warnings : std::vector<std::string>();
  };
  const auto lack = [this](const std::string& verbs) {
    return testing::HasSubstr("lacks verbs for Leases in namespace " + name_space_ + ": " + verbs +
                              ";");
  };
  EXPECT_THAT(warnings("all", servers::kubernetes_rights().verbs, true), testing::IsEmpty());
  EXPECT_THAT(warnings("reader", {"get", "list", "watch"}, true),
              testing::ElementsAre(lack("create, delete, patch")));
  EXPECT_THAT(warnings("keeper", {"get", "list", "watch", "patch"}, true),
              testing::ElementsAre(lack("create, delete")));
  EXPECT_THAT(warnings("unlisted", {"get", "list", "watch", "patch"}, false), testing::IsEmpty());
}

}  // namespace
}  // namespace tenure::tests
