// The token at a Kubernetes in hand-moved time: replaced while calls are under way, and sent back.

#include <fstream>

#include "support/temporary_directory.hpp"
#include "virtual_scene.hpp"

namespace tenure::tests {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

class VirtualToken : public VirtualKubernetes {
 protected:
  void write_token(const std::string& text) const { std::ofstream(folder_ / "token") << text; }

  stores::setup with_token() {
    stores::setup made = settings("a", seconds(60));
    made.secure.token_file = folder_ / "token";
    made.elections.push_back({.name = "db1"});
    return made;
  }

  static std::string token_of(const http::client_request& what) {
    for (const http::header& one : what.headers) {
      if (one.name == "Authorization") return one.value.substr(one.value.find(' ') + 1);
    }
    return {};
  }

  temporary_directory folder_;
};

/// Two renewals are refused with the old token: the first one reads the next, the second one finds
/// it read.
TEST_F(VirtualToken, ThatIsReplacedIsReadForAllCallsThatWereRefused) {
  write_token("first-token");
  auto a = join(with_token());
  std::vector<core::renewal_item> terms;
  for (const std::uint32_t i : {0U, 1U}) {
    ASSERT_EQ(acquire(*a, i), "granted");
    terms.push_back({.which = core::election_index{i}, .version = held_.version});
  }
  loop_.pass(seconds(1));
  write_token("second-token");
  api_.on("write", [&](const http::client_request& what) {
    if (token_of(what) == "second-token") return api_.truth(what);
    return virtual_reply(401, status_json(401, "Unauthorized", "Unauthorized"));
  });
  std::optional<stores::renew_outcome> came;
  a->renew(terms, loop_.now() + seconds(5), [&](auto what) { came = std::move(what); });
  loop_.pass(seconds(1));
  ASSERT_TRUE(came);
  ASSERT_TRUE(std::holds_alternative<stores::renewal>(*came)) << words(*came);
  EXPECT_THAT(std::get<stores::renewal>(*came).unanswered, testing::IsEmpty());
}

TEST_F(VirtualToken, IsNotSaidThoughTheServerSendsItBack) {
  const std::string secret = "eyJhbGciOiJSUzI1NiJ9." + std::string(300, 's');
  write_token(secret);
  auto a = join(with_token());
  ASSERT_EQ(acquire(*a), "granted");
  for (const unsigned status : {500U, 403U, 200U}) {
    for (const std::string& before :
         {std::string(), std::string(190, ' '), std::string(195, 'x')}) {
      api_.on("write", [&](const http::client_request& what) {
        return virtual_reply(status, before + "Bearer " + token_of(what) + " was sent");
      });
      const std::string said = renew(*a);
      EXPECT_THAT(said, HasSubstr("unknown: "));
      EXPECT_THAT(said, Not(HasSubstr("eyJh"))) << status;
      EXPECT_THAT(said, Not(HasSubstr("ssss"))) << status;
    }
  }
}

/// As a kubeconfig may have it: there is no file to read again.
TEST_F(VirtualToken, ThatIsGivenItselfGoesWithEachRequestAndIsNotSaid) {
  stores::setup with = settings("a", seconds(60));
  with.secure.inlined.token = "a-secret-token";
  auto a = join(with);
  ASSERT_EQ(acquire(*a), "granted");
  loop_.pass(seconds(120));
  api_.on("write", [&](const http::client_request& what) {
    return virtual_reply(401, "you are " + token_of(what));
  });
  EXPECT_THAT(renew(*a), HasSubstr("you are ***"));
}

TEST_F(VirtualToken, IsNotSaidThoughAWatchShowsIt) {
  write_token("a-secret-token");
  stores::setup with = with_token();
  auto a = join(with);
  std::string broken;
  a->watch(core::election_index{0}, [&](const auto& what) {
    if (const auto* why = std::get_if<stores::unknown>(&what)) broken = why->why;
  });
  loop_.pass(seconds(1));
  api_.on("watch", [&](const http::client_request& what) {
    return virtual_reply(500, "you are " + token_of(what));
  });
  api_.cut_watches();
  loop_.pass(seconds(5));
  EXPECT_THAT(broken, HasSubstr("you are ***"));
}

/// Another Lease of the same name that says the same is not the one that was granted.
TEST_F(VirtualKubernetes, ALeaseThatWasMadeAgainIsNotRenewed) {
  auto a = join(settings("a", seconds(60)));
  ASSERT_EQ(acquire(*a), "granted");
  loop_.pass(seconds(1));
  const nlohmann::json copy = api_.model().lease("db0");
  api_.model().remove("db0");
  api_.model().put("db0", copy["spec"]);
  api_.model().merge("db0", {{"annotations", copy["metadata"]["annotations"]}});
  EXPECT_EQ(renew(*a), "lost: revoked");
}

}  // namespace
}  // namespace tenure::tests
