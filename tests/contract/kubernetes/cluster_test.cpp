// What only a real API server can show.

#include "cluster_scene.hpp"

namespace tenure::tests {
namespace {

using stores::grant;
using stores::refusal;
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

}  // namespace
}  // namespace tenure::tests
