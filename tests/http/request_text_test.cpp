#include "http/client/request_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

const settings::endpoint where{.tls = false, .host = "::1", .port = 2379, .base = "/base"};

TEST(RequestText, BodyIsJsonUnlessAHeaderSaysOtherwise) {
  EXPECT_EQ(http::request_text({.method = "POST", .target = "/v3/kv", .body = "{}"}, where),
            "POST /base/v3/kv HTTP/1.1\r\nHost: [::1]:2379\r\nUser-Agent: tenure\r\n"
            "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  const auto typed = http::request_text(
      {.method = "PATCH", .target = "/", .headers = {{"content-type", "text/plain"}}, .body = "a"},
      where);
  ASSERT_TRUE(typed);
  EXPECT_THAT(*typed, HasSubstr("content-type: text/plain\r\n"));
  EXPECT_THAT(*typed, Not(HasSubstr("application/json")));
}

TEST(RequestText, OnlyARequestThatMayHaveABodySaysThatItHasNone) {
  EXPECT_THAT(*http::request_text({.method = "PUT", .target = "/"}, where),
              HasSubstr("Content-Length: 0\r\n"));
  EXPECT_THAT(*http::request_text({.method = "GET", .target = "/"}, where),
              Not(HasSubstr("Content-Length")));
}

TEST(RequestText, NothingInARequestCanMakeTwoOfIt) {
  const http::client_request table[] = {
      {.method = "GET /", .target = "/"},
      {.method = "", .target = "/"},
      {.method = "GET", .target = "no-slash"},
      {.method = "GET", .target = "/a b"},
      {.method = "GET", .target = "/a\r\nX: y"},
      {.method = "GET", .target = "/", .headers = {{"Authorization", "hunter2\n"}}},
      {.method = "GET", .target = "/", .headers = {{"A b", "c"}}},
      {.method = "GET", .target = "/", .headers = {{"content-length", "5"}}},
      {.method = "GET", .target = "/", .headers = {{"Transfer-Encoding", "chunked"}}},
  };
  for (const auto& request : table) {
    const auto out = http::request_text(request, where);
    ASSERT_FALSE(out) << *out;
    EXPECT_THAT(out.error(), Not(HasSubstr("hunter2")));
  }
}

TEST(RequestText, SummaryLeavesOutTheQuerySinceItMayHoldAToken) {
  EXPECT_EQ(http::summary({.method = "PUT", .target = "/v1/kv/a?token=hunter2"}, where),
            "PUT /v1/kv/a at http://[::1]:2379/base");
}

}  // namespace
}  // namespace tenure::tests
