#include "api/control.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "api/token.hpp"
#include "http/tls/tls_secret.hpp"
#include "scene.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::tests {
namespace {

using core::order_action;

struct control_scene : scene {
  control_scene() {
    routes = {.who = {.token_file = in / "token"}, .orders = true};
    write("sesame\n");
  }

  void write(const std::string& token) { std::ofstream(routes.who.token_file) << token; }

  static http::request post(const std::string& target, std::string body = {},
                            const std::string& token = "sesame") {
    http::request asked = get(target);
    asked.method = "POST";
    asked.body = std::move(body);
    if (!token.empty()) asked.authorization = "Bearer " + token;
    return asked;
  }

  /// The order in a request; none if it is refused.
  std::optional<api::calls::order> read(const http::request& asked) const {
    return call<api::calls::order>(asked);
  }

  /// The status of the refusal; 0 if the order is valid.
  unsigned refused(const http::request& asked) const {
    const auto wanted = api::route(asked, seen, routes);
    EXPECT_EQ(wanted.has_value(), read(asked).has_value()) << "it is no order";
    return wanted ? 0U : wanted.error().status;
  }

  temporary_directory in;
};

/// RFC 9110, 11.1
TEST(Control, TheSchemeOfTheTokenIsReadInAnyCase) {
  const control_scene s;
  for (const char* scheme : {"bearer ", "BEARER ", "Bearer "}) {
    http::request asked = control_scene::post("/v1/elections/db/resign");
    asked.authorization = scheme + std::string("sesame");
    EXPECT_EQ(s.refused(asked), 0U) << scheme;
    asked.authorization = scheme + std::string("sesami");
    EXPECT_EQ(s.refused(asked), 401U) << scheme;
  }
  http::request other = control_scene::post("/v1/elections/db/resign");
  other.authorization = "Basic sesame";
  EXPECT_EQ(s.refused(other), 401U);
}

TEST(Control, ReadsAnOrderForItsElection) {
  control_scene s;
  s.add("cache");
  const auto read =
      s.read(control_scene::post("/v1/elections/cache/transfer", R"({"to":"b","aside":"1m"})"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->which, core::election_index{1});
  EXPECT_EQ(read->what.what, order_action::transfer);
  EXPECT_EQ(read->what.heir, "b");
  EXPECT_EQ(read->what.aside, 60s);
}

TEST(Control, AnyOrderMayNameTheMemberThatIsMeant) {
  control_scene s;
  for (const char* what : {"resign", "pause", "resume"}) {
    const auto read =
        s.read(control_scene::post(std::string("/v1/elections/db/") + what, R"({"member":"b"})"));
    ASSERT_TRUE(read) << what;
    EXPECT_EQ(read->what.member, "b");
  }
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/pause", R"({"member":""})")), 400U);
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/pause", R"({"member":7})")), 400U);
}

TEST(Control, SetSaysWhatIsToBeChanged) {
  control_scene s;
  const auto set = [&](const std::string& body) {
    return s.read(control_scene::post("/v1/elections/db/set", body));
  };
  const auto read = set(R"({"accept_versions":true})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->what.what, order_action::set);
  EXPECT_TRUE(read->what.accept_versions);
  for (const char* wrong :
       {"", "{}", R"({"slots":2})", R"({"slots":2,"accept_versions":true})",
        R"({"accept_versions":1})", R"({"accept_versions":false})",
        R"({"accept_versions":true,"to":"b"})", R"({"accept_versions":true,"member":"b"})"}) {
    EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/set", wrong)), 400U) << wrong;
  }
}

TEST(Control, AnAcceptedOrderSaysWhoObeys) {
  const control_scene s;
  const http::response r =
      api::answer_order({.what = {.what = order_action::transfer, .heir = "c"}}, s.seen,
                        api::control_acceptance{.by = "b"});
  EXPECT_EQ(r.status, 202U);
  EXPECT_EQ(nlohmann::json::parse(r.body),
            nlohmann::json::parse(
                R"({"accepted":true,"election":"db","action":"transfer","by":"b","to":"c"})"));
}

TEST(Control, ARefusedOrderHasItsStatusAndItsProblem) {
  const control_scene s;
  const http::response r =
      api::answer_order({}, s.seen, std::unexpected(api::refusal(409, "c", "m", "a")));
  EXPECT_EQ(r.status, 409U);
  EXPECT_EQ(wire::read_problem(r.body),
            (wire::problem{.code = "c", .message = "m", .action = "a"}));
}

TEST(Control, NobodyIsObeyedWithoutTheToken) {
  control_scene s;
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/resign")), 0U);
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/resign", "", "")), 401U);
  for (const char* wrong : {"sesam", "sesamee", "Sesame", "x", " sesame"}) {
    EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/resign", "", wrong)), 401U) << wrong;
  }
  http::request basic = control_scene::post("/v1/elections/db/resign");
  basic.authorization = "Basic sesame";
  EXPECT_EQ(s.refused(basic), 401U);
}

TEST(Control, WithoutATokenFileNobodyIsObeyedAtAll) {
  control_scene s;
  s.routes.who.token_file.clear();
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/resign")), 403U);
}

TEST(Control, OnTheUnixSocketTheUserDecides) {
  control_scene s;
  s.routes.who.token_file.clear();
  http::request asked = control_scene::post("/v1/elections/db/resign", "", "");
  asked.peer = http::peer_process{.uid = ::geteuid(), .pid = 1};
  EXPECT_EQ(s.refused(asked), 0U);
  asked.peer->uid = 0;
  EXPECT_EQ(s.refused(asked), 0U) << "root";
  asked.peer->uid = ::geteuid() + 1;
  EXPECT_EQ(s.refused(asked), 403U);
}

TEST(Control, TheTokenMayChangeWhileTheAgentRuns) {
  control_scene s;
  s.write("another");
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/resign")), 401U);
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/resign", "", "another")), 0U);
}

TEST(Control, AnEmptyTokenFileOpensNothing) {
  control_scene s;
  for (const char* empty : {"", "\n", "  "}) {
    s.write(empty);
    EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/resign", "", " ")), 503U);
  }
}

TEST(Control, WhoIsNotAllowedIsNotToldWhichElectionsThereAre) {
  control_scene s;
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/nothing/resign", "", "")), 401U);
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/nothing/resign")), 404U);
}

TEST(Control, OnlyAPostChangesAnything) {
  control_scene s;
  for (const char* method : {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"}) {
    http::request asked = control_scene::post("/v1/elections/db/pause");
    asked.method = method;
    EXPECT_EQ(s.refused(asked), 405U) << method;
    EXPECT_EQ(s.ask(asked).headers.back().value, "POST");
  }
}

TEST(Control, WhatIsMisspeltIsNotLeftOut) {
  control_scene s;
  for (const char* body : {"{", "[]", "7", R"({"too":"b"})", R"({"to":7})", R"({"to":""})",
                           R"({"aside":"soon"})", R"({"aside":30})", R"({"aside":"-1s"})"}) {
    EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/resign", body)), 400U) << body;
  }
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/transfer")), 400U) << "to whom?";
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/pause", R"({"to":"b"})")), 400U);
}

TEST(Control, OtherPathsAreNotItsOwn) {
  const control_scene s;
  for (const char* path : {"/v1/elections/db", "/v1/elections/db/verify", "/v1/elections/resign",
                           "/v1/elections/db/resign/now", "/v2/elections/db/resign"}) {
    EXPECT_FALSE(s.read(control_scene::post(path))) << path;
    EXPECT_NE(s.refused(control_scene::post(path)), 401U) << path;
  }
}

TEST(ControlToken, WhatIsWrongWithTheFileIsSaidAndNothingOfWhatIsInIt) {
  const temporary_directory in;
  const std::string file = (in / "token").string();
  EXPECT_NE(api::read_token(file).error().find("No such file"), std::string::npos);
  std::ofstream(file) << "open sesame";
  const auto two = api::read_token(file);
  ASSERT_FALSE(two);
  EXPECT_NE(two.error().find(file), std::string::npos);
  EXPECT_EQ(two.error().find("sesame"), std::string::npos);
  std::ofstream(file) << std::string(5000, 'x');
  EXPECT_FALSE(api::read_token(file));
  EXPECT_FALSE(api::read_token(in.path().string())) << "a directory";
}

TEST(ControlToken, FileThatEverybodyCanWriteToHoldsNoSecret) {
  const temporary_directory in;
  const std::string file = (in / "token").string();
  std::ofstream(file) << "sesame";
  std::filesystem::permissions(file, std::filesystem::perms(0622));
  const auto read = api::read_token(file);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().find("can be written to by other users (mode 0622)"), std::string::npos)
      << read.error();
  // As volumes of Kubernetes are.
  std::filesystem::permissions(file, std::filesystem::perms(0440));
  std::filesystem::create_symlink("token", in / "link");
  EXPECT_EQ(api::read_token((in / "link").string()), "sesame");
}

TEST(ControlToken, ComparesAllOfIt) {
  EXPECT_TRUE(http::same_secret("abc", "abc"));
  for (const char* other : {"", "a", "ab", "abd", "abcabc", "xbc"}) {
    EXPECT_FALSE(http::same_secret("abc", other)) << other;
    EXPECT_FALSE(http::same_secret(other, "abc")) << other;
  }
}

}  // namespace
}  // namespace tenure::tests
