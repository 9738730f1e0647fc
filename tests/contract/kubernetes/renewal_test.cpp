// One write for each term: what becomes of the others if one cannot be written.

#include "virtual_scene.hpp"

namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class KubernetesRenewals : public HostileKubernetes {
 protected:
  /// A member that holds "db0" and "db1".
  std::unique_ptr<member> hold_two() {
    auto made =
        join(settings_for("kubernetes", fake_.endpoint(), "a", std::chrono::seconds(60), 1, 2));
    terms_ = {{.which = core::election_index{0}, .version = hold(*made, 0).version},
              {.which = core::election_index{1}, .version = hold(*made, 1).version}};
    return made;
  }

  /// From now on the Lease of "db1" cannot be written.
  void refuse_writes_of_the_second(fake_kubernetes::answer how) {
    fake_.on("write", [this, how = std::move(how)](peer& to, const std::string& request) {
      if (path_of(request).ends_with("/db1")) return how(to, request);
      fake_kubernetes::say(to, fake_.truth(request));
    });
  }

  void expect_first_renewed_alone(member& who) {
    const auto came = who.renew(terms_);
    ASSERT_TRUE(std::holds_alternative<stores::renewal>(came)) << words(came);
    const auto& done = std::get<stores::renewal>(came);
    EXPECT_THAT(done.lost, IsEmpty());
    ASSERT_THAT(done.unanswered, SizeIs(1));
    EXPECT_EQ(done.unanswered[0].which, core::election_index{1});
    EXPECT_THAT(done.unanswered[0].why, HasSubstr("election \"db1\": "));
  }

  std::vector<core::renewal_item> terms_;
};

TEST_F(KubernetesRenewals, OfOtherTermsGoOnIfOneIsRefused) {
  auto a = hold_two();
  for (const char* line : {"403 Forbidden", "500 So"}) {
    refuse_writes_of_the_second(status(line, status_json(std::stoi(line), "Forbidden")));
    expect_first_renewed_alone(*a);
  }
  fake_.repent();
  const auto came = a->renew(terms_);
  ASSERT_TRUE(std::holds_alternative<stores::renewal>(came));
  EXPECT_THAT(std::get<stores::renewal>(came).unanswered, IsEmpty());
}

TEST_F(KubernetesRenewals, OfWhichNoneIsAnsweredAreUnknown) {
  auto a = hold_two();
  fake_.on("write", status("500 So", status_json(500, "InternalError")));
  // Of the two, the one that was answered first is named.
  EXPECT_THAT(words(a->renew(terms_)),
              AllOf(HasSubstr("unknown: election \"db"), HasSubstr("answered 500")));
}

TEST_F(KubernetesRenewals, TellOfALossThoughAnotherTermIsUnknown) {
  auto a = hold_two();
  refuse_writes_of_the_second(status("500 So", status_json(500, "InternalError")));
  hold_as_another();
  const auto came = a->renew(terms_);
  ASSERT_TRUE(std::holds_alternative<stores::renewal>(came));
  EXPECT_THAT(std::get<stores::renewal>(came).lost,
              ElementsAre(testing::Field(&core::renewal_loss::which, core::election_index{0})));
  EXPECT_THAT(std::get<stores::renewal>(came).unanswered, SizeIs(1));
}

/// An API server that was not started again after a restore shows Leases that are not there.
TEST_F(VirtualKubernetes, ARenewalThatReliesOnAStateInVainDoesNotTryItAgain) {
  auto a = join(settings("a", std::chrono::seconds(60)));
  ASSERT_EQ(acquire(*a), "granted");
  loop_.pass(std::chrono::seconds(1));
  const int before = api_.count("write");
  api_.on("write", [](const auto&) { return virtual_reply(409, status_json(409, "Conflict")); });
  EXPECT_THAT(renew(*a), HasSubstr("shows the Lease db0 again and again as no write finds it"));
  EXPECT_EQ(api_.count("write") - before, 1);
}

/// A member that holds "db0" and "db1".
class VirtualRenewals : public VirtualKubernetes {
 protected:
  store_ptr hold_two() {
    stores::setup with = settings("a", std::chrono::seconds(60));
    with.elections.push_back({.name = "db1"});
    auto a = join(with);
    for (const std::uint32_t i : {0U, 1U}) {
      EXPECT_EQ(acquire(*a, i), "granted");
      terms_.push_back({.which = core::election_index{i}, .version = held_.version});
    }
    return a;
  }

  /// What has come of a renewal of both after this time.
  std::optional<stores::renew_outcome> renew_both(stores::store& who, core::duration within,
                                                  core::duration after) {
    const auto came = std::make_shared<std::optional<stores::renew_outcome>>();
    who.renew(terms_, loop_.now() + within, [came](auto what) { came->emplace(std::move(what)); });
    loop_.pass(after);
    return *came;
  }

  std::vector<core::renewal_item> terms_;
};

/// A Go program compares times in whole seconds: the one that it saw before a restore would mean
/// that nothing was renewed since.
TEST_F(VirtualRenewals, HaveALaterSecondThanAllBeforeAlsoAfterARestore) {
  auto a = join(settings("a", std::chrono::seconds(60)));
  ASSERT_EQ(acquire(*a), "granted");
  const auto second_of = [&] {
    return api_.model().lease("db0")["spec"]["renewTime"].get<std::string>().substr(0, 19);
  };
  const nlohmann::json backup = api_.model().lease("db0")["spec"];
  ASSERT_EQ(renew(*a), "renewed");
  ASSERT_EQ(renew(*a), "renewed");
  const std::string before = second_of();
  api_.model().put("db0", backup);
  ASSERT_LT(second_of(), before);
  ASSERT_EQ(renew(*a), "renewed");
  EXPECT_GT(second_of(), before);
}

/// The same program would count from when it has seen the first one.
TEST_F(VirtualRenewals, ALeaseThatIsTakenAnewAfterItsDeletionLooksLikeAnother) {
  auto a = join(settings("a", std::chrono::seconds(60)));
  const auto second_of = [&] {
    return api_.model().lease("db0")["spec"]["acquireTime"].get<std::string>().substr(0, 19);
  };
  ASSERT_EQ(acquire(*a), "granted");
  const std::string before = second_of();
  api_.model().remove("db0");
  api_.show();
  loop_.run();
  ASSERT_EQ(acquire(*a), "granted");
  EXPECT_GT(second_of(), before);
}

/// A webhook may take longer than a renewal has, and the caller counts all as unknown at its
/// deadline.
TEST_F(VirtualRenewals, AreAnsweredInTimeThoughOneOfTheTermsIsNot) {
  auto a = hold_two();
  api_.on("write", [&](const http::client_request& what) -> std::optional<http::client_reply> {
    if (what.target.ends_with("/db1")) return std::nullopt;
    return api_.truth(what);
  });
  const auto came = renew_both(*a, std::chrono::seconds(8), std::chrono::milliseconds(7100));
  ASSERT_TRUE(came) << "before its deadline";
  ASSERT_TRUE(std::holds_alternative<stores::renewal>(*came));
  EXPECT_THAT(std::get<stores::renewal>(*came).unanswered, SizeIs(1));
}

TEST_F(VirtualRenewals, ALossIsToldThoughTheWriteOfAnotherTermHasNoAnswer) {
  auto a = hold_two();
  hold_as_another(std::chrono::seconds(60));
  api_.on("write", [](const auto&) -> std::optional<http::client_reply> { return std::nullopt; });
  const auto came = renew_both(*a, std::chrono::seconds(20), std::chrono::milliseconds(200));
  ASSERT_TRUE(came);
  EXPECT_EQ(words(*came), "lost: taken_over");
  EXPECT_THAT(
      std::get<stores::renewal>(*came).unanswered,
      ElementsAre(testing::Field(&stores::unanswered_renewal::which, core::election_index{1})));
}

}  // namespace
}  // namespace tenure::tests
