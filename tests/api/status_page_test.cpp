#include "api/status_page.hpp"

#include <gtest/gtest.h>

#include <string>

#include "scene.hpp"

namespace tenure::tests {
namespace {

constexpr const char* firefox = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
constexpr const char* chromium =
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;"
    "q=0.8,application/signed-exchange;v=b3;q=0.7";

http::response ask(const scene& s, const std::string& target, const char* accept) {
  http::request asked = scene::get(target);
  if (accept != nullptr) asked.accept = accept;
  return s.ask(asked);
}

bool is_page(const http::response& answer) {
  return answer.content_type == "text/html; charset=utf-8";
}

std::string header(const http::response& of, const std::string& name) {
  for (const http::header& one : of.headers) {
    if (one.name == name) return one.value;
  }
  return "";
}

class Browser : public ::testing::TestWithParam<const char*> {};

TEST_P(Browser, GetsThePage) {
  const http::response answer = ask(scene{}, "/", GetParam());
  EXPECT_EQ(answer.status, 200u);
  EXPECT_TRUE(is_page(answer)) << answer.content_type;
}

INSTANTIATE_TEST_SUITE_P(
    StatusPage, Browser,
    ::testing::Values(firefox, chromium, "text/html", "TEXT/HTML;q=1",
                      "text/plain;q=0.5 , text/html;level=1",
                      // Lynx.
                      "text/html, text/plain, application/xhtml+xml, */*;q=0.01"));

class Program : public ::testing::TestWithParam<const char*> {};

TEST_P(Program, GetsJson) {
  const http::response answer = ask(scene{}, "/", GetParam());
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(answer.content_type, "application/json");
}

INSTANTIATE_TEST_SUITE_P(
    StatusPage, Program,
    ::testing::Values(nullptr, "", "*/*", "application/json", "text/*", "text/htmlx",
                      "application/json, text/plain, */*", "text/html;q=0", "text/html; Q=0.000",
                      "application/json, text/html;q=0.5",
                      // Java's HttpURLConnection, if nobody tells it otherwise.
                      "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"));

TEST(StatusPage, CachesAreToldThatTheAnswerDependsOnWhoAsks) {
  EXPECT_EQ(header(ask(scene{}, "/", firefox), "Vary"), "Accept");
  EXPECT_EQ(header(ask(scene{}, "/", "*/*"), "Vary"), "Accept");
}

TEST(StatusPage, OnlyTheRootIsForBrowsers) {
  for (const char* target : {"/api/leader", "/v1/elections", "/v1/elections/db", "/livez"}) {
    EXPECT_FALSE(is_page(ask(scene{}, target, firefox))) << target;
  }
}

TEST(StatusPage, IsThereBeforeTheElectionsAre) {
  scene s;
  s.seen.elections.clear();
  EXPECT_TRUE(is_page(ask(s, "/", firefox)));
}

TEST(StatusPage, IsNotShownUnderANameOfAStranger) {
  scene s;
  http::request asked = scene::get("/");
  asked.accept = firefox;
  asked.host = "evil.example";
  EXPECT_EQ(s.ask(asked).status, 403u);
}

TEST(StatusPage, IsSmallAndNeedsNothingElse) {
  EXPECT_LT(api::status_page_text.size(), 48'000u);
  for (const char* outside : {"src=", "@import", "url(", "https://"}) {
    EXPECT_EQ(api::status_page_text.find(outside), std::string_view::npos) << outside;
  }
}

TEST(StatusPage, NothingMayRunInItThatIsNotOfTheBuild) {
  const std::string policy = header(ask(scene{}, "/", firefox), "Content-Security-Policy");
  for (const char* rule : {"default-src 'none'", "script-src 'sha256-", "connect-src 'self'",
                           "frame-ancestors 'none'", "require-trusted-types-for 'script'"}) {
    EXPECT_NE(policy.find(rule), std::string::npos) << rule << " is not in: " << policy;
  }
  EXPECT_EQ(policy.find("unsafe"), std::string::npos) << policy;
  EXPECT_EQ(header(ask(scene{}, "/", firefox), "Referrer-Policy"), "no-referrer");
  EXPECT_EQ(header(ask(scene{}, "/", firefox), "X-Content-Type-Options"), "nosniff");
}

}  // namespace
}  // namespace tenure::tests
