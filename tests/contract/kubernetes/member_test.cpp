// The list of members at a fake Kubernetes where it cannot be kept.

#include "hostile_kubernetes.hpp"

namespace tenure::tests {
namespace {

class KubernetesMember : public HostileKubernetes {
 protected:
  std::unique_ptr<member> join_listed() {
    stores::setup with = settings("a");
    with.announce = true;
    return join(with);
  }

  /// Lets the store do what it does by itself, for some turns.
  static void go_on(member& who) {
    for (int i = 0; i < 20; ++i) who.read();
  }
};

TEST_F(KubernetesMember, WhoseNamespaceWasDeletedDoesNotTryWithoutPause) {
  fake_.on("create", status("404 Not Found", no_namespace_json()));
  auto a = join_listed();
  ASSERT_TRUE(eventually(loop_, [&] { return fake_.count("create") > 0; }));
  go_on(*a);
  EXPECT_EQ(fake_.count("create"), 1);
}

/// It is neither there to be made, nor there to be changed.
TEST_F(KubernetesMember, WhoseLeaseIsThereAndIsNotDoesNotTryWithoutPause) {
  fake_.on("create", status("409 Conflict", status_json(409, "AlreadyExists")));
  auto a = join_listed();
  ASSERT_TRUE(eventually(loop_, [&] { return fake_.count("create") > 1; }));
  go_on(*a);
  EXPECT_EQ(fake_.count("create"), 2) << "once more after a look";
}

TEST_F(KubernetesMember, OfANamespaceThatDoesNotExistIsNotStarted) {
  fake_.on("try", status("404 Not Found", no_namespace_json()));
  member a(loop_, settings("a"));
  const auto opened = a.open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text,
              testing::HasSubstr("namespaces \"default\" not found; create the namespace"));
}

TEST_F(KubernetesMember, WhoMayNotCreateLeasesIsStarted) {
  fake_.on("try", status("403 Forbidden", status_json(403, "Forbidden", "cannot create")));
  make_lease();
  hold(*join());
}

}  // namespace
}  // namespace tenure::tests
