#include "api/control.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "api/control_codec.hpp"
#include "api/token.hpp"
#include "scene.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::tests {
namespace {

using core::order_action;

struct control_scene : scene {
  control_scene() { write("sesame\n"); }

  void write(const std::string& token) { std::ofstream(who.token_file) << token; }

  static http::request post(const std::string& target, std::string body = {},
                            const std::string& token = "sesame") {
    http::request asked = get(target);
    asked.method = "POST";
    asked.body = std::move(body);
    if (!token.empty()) asked.authorization = "Bearer " + token;
    return asked;
  }

  /// The status of the refusal; 0 if it is in order.
  unsigned refused(const http::request& asked) const {
    EXPECT_TRUE(api::is_control(asked));
    const auto read = api::read_control(asked, seen, who);
    return read ? 0U : read.error().status;
  }

  temporary_directory in;
  api::control_access who{.token_file = in / "token"};
};

TEST(Control, ReadsAnOrderForItsElection) {
  control_scene s;
  s.add("cache");
  const auto read = api::read_control(
      control_scene::post("/v1/elections/cache/transfer", R"({"to":"b","aside":"1m"})"), s.seen,
      s.who);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->which, core::election_index{1});
  EXPECT_EQ(read->what.what, order_action::transfer);
  EXPECT_EQ(read->what.heir, "b");
  EXPECT_EQ(read->what.aside, 60s);
}

TEST(Control, AnOrderThatIsNestedWithoutEndIsRefused) {
  const std::string deep = R"({"to":)" + std::string(8'000, '[') + std::string(8'000, ']') + "}";
  const auto read = api::parse_order(order_action::transfer, deep);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), "the body is nested too deeply");
}

TEST(Control, AnyOrderMayNameTheMemberThatIsMeant) {
  control_scene s;
  for (const char* what : {"resign", "pause", "resume"}) {
    const auto read = api::read_control(
        control_scene::post(std::string("/v1/elections/db/") + what, R"({"member":"b"})"), s.seen,
        s.who);
    ASSERT_TRUE(read) << what;
    EXPECT_EQ(read->what.member, "b");
  }
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/pause", R"({"member":""})")), 400U);
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/pause", R"({"member":7})")), 400U);
}

TEST(Control, SetSaysWhatIsToBeChanged) {
  control_scene s;
  const auto set = [&](const std::string& body) {
    return api::read_control(control_scene::post("/v1/elections/db/set", body), s.seen, s.who);
  };
  const auto read = set(R"({"slots":3,"accept_versions":true})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->what.what, order_action::set);
  EXPECT_EQ(read->what.slots, 3U);
  EXPECT_TRUE(read->what.accept_versions);
  for (const char* wrong :
       {"", "{}", R"({"slots":0})", R"({"slots":-1})", R"({"slots":1001})", R"({"slots":"2"})",
        R"({"accept_versions":1})", R"({"accept_versions":false})", R"({"slots":2,"to":"b"})",
        R"({"slots":2,"member":"b"})"}) {
    const auto none = set(wrong);
    ASSERT_FALSE(none) << wrong;
    EXPECT_EQ(none.error().status, 400U) << wrong;
  }
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/resign", R"({"slots":2})")), 400U);
}

TEST(Control, AnAcceptedOrderSaysWhoObeys) {
  const http::response r = api::control_response(
      control_scene::post("/v1/elections/db/transfer", R"({"to":"c"})"),
      {.what = order_action::transfer, .heir = "c"}, api::control_acceptance{.by = "b"});
  EXPECT_EQ(r.status, 202U);
  EXPECT_EQ(nlohmann::json::parse(r.body),
            nlohmann::json::parse(
                R"({"accepted":true,"election":"db","action":"transfer","by":"b","to":"c"})"));
}

TEST(Control, AnAcceptedOrderThatChangesNothingSaysSo) {
  const http::response r =
      api::control_response(control_scene::post("/v1/elections/db/set", R"({"slots":2})"),
                            {.what = order_action::set, .slots = 2},
                            api::control_acceptance{.by = "b", .unchanged = true});
  EXPECT_EQ(r.status, 202U);
  EXPECT_EQ(nlohmann::json::parse(r.body),
            nlohmann::json::parse(R"({"accepted":true,"election":"db","action":"set","by":"b",)"
                                  R"("slots":2,"unchanged":true})"));
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
  s.who.token_file.clear();
  EXPECT_EQ(s.refused(control_scene::post("/v1/elections/db/resign")), 403U);
}

TEST(Control, OnTheUnixSocketTheUserDecides) {
  control_scene s;
  s.who.token_file.clear();
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
  for (const char* path : {"/v1/elections/db", "/v1/elections/db/verify", "/v1/elections/resign",
                           "/v1/elections/db/resign/now", "/v2/elections/db/resign"}) {
    EXPECT_FALSE(api::is_control(scene::get(path))) << path;
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
  EXPECT_TRUE(api::same_secret("abc", "abc"));
  for (const char* other : {"", "a", "ab", "abd", "abcabc", "xbc"}) {
    EXPECT_FALSE(api::same_secret("abc", other)) << other;
    EXPECT_FALSE(api::same_secret(other, "abc")) << other;
  }
}

}  // namespace
}  // namespace tenure::tests
