// The list of members at a fake Kubernetes where it cannot be kept.

#include "virtual_scene.hpp"

namespace tenure::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

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

class KubernetesNamesake : public VirtualKubernetes {
 protected:
  /// A run of the agent "a" that is in the list of members.
  store_ptr join_run(const std::string& session) {
    stores::setup with = settings("a", seconds(60));
    with.session = session;
    with.announce = true;
    return join(with);
  }

  bool is_in_use(stores::store& who) {
    std::optional<bool> shown;
    who.read(core::election_index{0}, loop_.now() + seconds(1), [&](const auto& what) {
      const auto* const seen = std::get_if<core::observation>(&what);
      shown = seen != nullptr && seen->identity_in_use;
    });
    loop_.pass(milliseconds(10));
    EXPECT_TRUE(shown);
    return shown.value_or(false);
  }
};

TEST_F(KubernetesNamesake, ThatLivesAnswersAtOnceAndStaysInUse) {
  auto first = join_run("1");
  loop_.pass(seconds(3));
  auto second = join_run("2");
  EXPECT_TRUE(is_in_use(*second));
  EXPECT_FALSE(is_in_use(*first));
  for (int i = 0; i < 20; ++i) {
    loop_.pass(seconds(2));
    EXPECT_TRUE(is_in_use(*second)) << i;
  }
}

/// As a crashed pod that is started again.
TEST_F(KubernetesNamesake, ThatHasCrashedIsForgottenInAMoment) {
  auto first = join_run("1");
  loop_.pass(seconds(3));
  first->close();
  auto second = join_run("2");
  EXPECT_TRUE(is_in_use(*second));
  loop_.pass(seconds(1));
  EXPECT_FALSE(is_in_use(*second));
}

TEST_F(KubernetesNamesake, DoesNotMakeUsWriteWithoutPause) {
  auto first = join_run("1");
  loop_.pass(seconds(3));
  const int before = api_.count("write");
  for (int i = 0; i < 50; ++i) {
    api_.model().put("db0.member-tenure-" + std::to_string(i),
                     {{"holderIdentity", "a_tenure-" + std::to_string(i)}});
    api_.model().merge("db0.member-tenure-" + std::to_string(i),
                       {{"labels", {{"tenure.dev/election", "db0"}}}});
    api_.show();
    loop_.pass(milliseconds(100));
  }
  EXPECT_LE(api_.count("write") - before, 6) << "in five seconds";
}

class KubernetesBatch : public VirtualKubernetes {
 protected:
  void watch(stores::store& who) {
    who.watch(core::election_index{0}, [this](auto what) {
      if (auto* shown = std::get_if<core::observation>(&what)) seen_.push_back(std::move(*shown));
    });
    loop_.pass(seconds(1));
  }

  std::vector<core::observation> seen_;
};

TEST_F(KubernetesBatch, OfMembersIsShownOnce) {
  auto a = join(settings("a", seconds(60)));
  watch(*a);
  const std::size_t before = seen_.size();
  for (int i = 0; i < 50; ++i) {
    const std::string mark = "tenure-" + std::to_string(i);
    api_.model().put("db0.member-" + mark,
                     {{"holderIdentity", "b" + std::to_string(i) + "_" + mark}});
    api_.model().merge("db0.member-" + mark, {{"labels", {{"tenure.dev/election", "db0"}}}});
  }
  api_.show();
  loop_.pass(milliseconds(10));
  ASSERT_EQ(seen_.size(), before + 1);
  EXPECT_EQ(seen_.back().members.value().size(), 50U);
}

/// A term that was there between two others is no less a term.
TEST_F(KubernetesBatch, OfTermsIsShownOneByOne) {
  auto a = join(settings("a", seconds(60)));
  watch(*a);
  const std::size_t before = seen_.size();
  for (const char* holder : {"x", "y", ""}) {
    api_.model().put("db0", {{"holderIdentity", holder}, {"leaseDurationSeconds", 60}});
  }
  api_.show();
  loop_.pass(milliseconds(10));
  ASSERT_EQ(seen_.size(), before + 3);
  EXPECT_TRUE(held_by("x")(seen_[before]));
  EXPECT_TRUE(held_by("y")(seen_[before + 1]));
  EXPECT_TRUE(nobody(seen_[before + 2]));
}

/// A list that shows nothing new is compared by what is known of its Leases.
TEST_F(KubernetesBatch, OfAListThatHasNothingNewIsNotShown) {
  auto a = join(settings("a", seconds(60)));
  hold_as_another(seconds(600));
  watch(*a);
  const std::size_t before = seen_.size();
  const int lists = api_.count("list");
  loop_.pass(seconds(60));
  EXPECT_GT(api_.count("list"), lists);
  EXPECT_EQ(seen_.size(), before);
}

}  // namespace
}  // namespace tenure::tests
