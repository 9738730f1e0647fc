// Users and passwords: signing in, being refused, and etcd forgetting who we are.

#include "etcd_scene.hpp"
#include "servers/plain_http.hpp"
#include "stores/etcd/codec.hpp"

namespace tenure::tests {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class EtcdAuth : public EtcdNode {
 protected:
  /// Settings of a user whose password is in the file.
  [[nodiscard]] stores::setup user(const std::string& name, const std::string& password) const {
    password_.write(password);
    return password_.of(name, settings("a", {etcd_->endpoint()}));
  }

  /// Runs the gateway's `path` as root, whose password is "secret".
  void as_root(const std::string& path, const std::string& body) const;

  password_file password_;
};

INSTANTIATE_TEST_SUITE_P(Servers, EtcdAuth, testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(EtcdAuth, RightPasswordWorksFromAcquireToRelease) {
  etcd_->enable_auth("secret");
  auto a = join(user("root", "secret"));
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
  EXPECT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
}

TEST_P(EtcdAuth, WrongPasswordEndsTheAgentNamingUserAndEndpointButNotThePassword) {
  etcd_->enable_auth("secret");
  member a(loop_, user("root", "hunter2"));
  EXPECT_THAT(words(a.open()), AllOf(StartsWith("error: "), HasSubstr("\"root\""),
                                     HasSubstr(etcd_->endpoint()), Not(HasSubstr("hunter2"))));
}

TEST_P(EtcdAuth, NoUserWhereOneIsWantedEndsTheAgentWithAdvice) {
  etcd_->enable_auth("secret");
  member a(loop_, settings("a", {etcd_->endpoint()}));
  EXPECT_THAT(words(a.open()), AllOf(StartsWith("error: "), HasSubstr(etcd_->endpoint()),
                                     HasSubstr("give the agent a user and password")));
}

TEST_P(EtcdAuth, MissingPasswordFileEndsTheAgentAndIsNamed) {
  stores::setup with = user("root", "secret");
  with.secure.password_file = password_.folder / "absent";
  member a(loop_, with);
  EXPECT_THAT(words(a.open()),
              AllOf(StartsWith("error: "), HasSubstr("absent: No such file"), HasSubstr("ENOENT")));
}

TEST_P(EtcdAuth, AuthenticationThatIsSwitchedOnUnderUsIsSaidAndIsNoLoss) {
  auto a = join(settings("a", {etcd_->endpoint()}));
  const stores::grant held = a->hold();
  etcd_->enable_auth("secret");
  etcd_->stop(0);  // ends what etcd still allows to earlier connections
  etcd_->start(0);
  etcd_->wait_until_healthy();
  EXPECT_THAT(words(renew(*a, held.version, renewal_time)),
              AnyOf("renewed", StartsWith("unknown")));
  EXPECT_THAT(words(acquire(*a, renewal_time)),
              AllOf(StartsWith("unknown"), HasSubstr("give the agent a user and password")));
  EXPECT_THAT(words(release(*a, held.version, renewal_time)),
              AllOf(StartsWith("unknown"), HasSubstr("give the agent a user and password")));
}

TEST_P(EtcdAuth, ForgottenTokenIsMadeAnewWithinTheRenewal) {
  etcd_->enable_auth("secret");
  auto a = join(user("root", "secret"));
  const stores::grant held = a->hold();
  // Simple tokens live in the memory of a member.
  etcd_->stop(0);
  etcd_->start(0);
  etcd_->wait_until_healthy();
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
  EXPECT_EQ(words(a->release(0, held.version)), "released");
}

TEST_P(EtcdAuth, ChangedPasswordIsReadAgainFromItsFile) {
  etcd_->enable_auth("secret");
  auto a = join(user("root", "secret"));
  const stores::grant held = a->hold();
  as_root("/v3/auth/user/changepw", R"({"name":"root","password":"another"})");
  etcd_->stop(0);
  etcd_->start(0);
  etcd_->wait_until_healthy();
  EXPECT_THAT(words(release(*a, held.version, renewal_time)),
              AllOf(StartsWith("unknown"), HasSubstr("cannot sign in")));
  password_.write("another");
  EXPECT_EQ(words(release(*a, held.version, renewal_time)), "released");
}

TEST_P(EtcdAuth, AuthenticationThatIsSwitchedOffIsNotInTheWay) {
  etcd_->enable_auth("secret");
  auto a = join(user("root", "secret"));
  const stores::grant held = a->hold();
  as_root("/v3/auth/disable", "{}");
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
  stores::setup other = user("root", "secret");
  other.identity = other.session = "b";
  auto b = join(other);
  EXPECT_EQ(words(b->acquire()), "refused") << "signing in is not asked for";
  EXPECT_EQ(words(a->release(0, held.version)), "released");
}

TEST_P(EtcdAuth, UserWithoutAccessToThePrefixIsDeniedWithAdvice) {
  etcd_operator(*etcd_).add_user("poor", "secret", "elsewhere/", "elsewhere0", true);
  etcd_->enable_auth("secret");
  member a(loop_, user("poor", "secret"));
  EXPECT_THAT(words(a.open()), AllOf(StartsWith("error: "), HasSubstr("permission denied"),
                                     HasSubstr("give the user a role")));
}

TEST_P(EtcdAuth, UserWhoMayOnlyReadIsGrantedNothing) {
  etcd_operator(*etcd_).add_user("reader", "secret", "db0.tenure", "db00", false);
  etcd_->enable_auth("secret");
  auto a = join(user("reader", "secret"));
  EXPECT_THAT(words(acquire(*a, renewal_time)),
              AllOf(StartsWith("unknown"), HasSubstr("permission denied"),
                    HasSubstr("give the user a role")));
  EXPECT_TRUE(nobody(a->read()));
}

TEST_P(EtcdAuth, UserOfThePrefixNeedsNothingElse) {
  etcd_operator(*etcd_).add_user("tenant", "secret", "db0.tenure", "db00", true);
  etcd_->enable_auth("secret");
  auto a = join(user("tenant", "secret"));
  const stores::grant held = a->hold();
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
  EXPECT_EQ(words(a->release(0, held.version)), "released");
}

void EtcdAuth::as_root(const std::string& path, const std::string& body) const {
  const auto said = etcd_->post("/v3/auth/authenticate", R"({"name":"root","password":"secret"})");
  const auto parsed = stores::etcd::parse_authenticate(said);
  ASSERT_TRUE(parsed) << said;
  const std::string answer =
      servers::plain_http(etcd_->port(), "POST", path, body,
                          "Connection: close\r\nAuthorization: " + parsed->token + "\r\n")
          .read_until("header", 1, servers::patience);
  EXPECT_THAT(answer, HasSubstr("header"));
}

}  // namespace
}  // namespace tenure::tests
