#include "http/server/response_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::tests {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr std::time_t now = 784'111'777;  // the example of RFC 9110

TEST(ResponseText, IsOneMessage) {
  EXPECT_EQ(http::response_text({.body = "{}", .headers = {{.name = "A", .value = "b"}}}, {}, now),
            "HTTP/1.1 200 OK\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Content-Type: application/json\r\n"
            "Content-Length: 2\r\n"
            "A: b\r\n"
            "\r\n"
            "{}");
}

TEST(ResponseText, AnswerToHeadHasTheLengthWithoutTheBody) {
  const std::string words = http::response_text({.body = "12345"}, {.head = true}, now);
  EXPECT_THAT(words, HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(words, EndsWith("\r\n\r\n"));
}

TEST(ResponseText, LastAnswerSaysSo) {
  EXPECT_THAT(http::response_text({}, {.last = true}, now), HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(http::response_text({}, {}, now), Not(HasSubstr("Connection:")));
}

TEST(ResponseText, NoContentHasNoBodyAndNoLength) {
  const std::string words = http::response_text({.status = 204, .body = "x"}, {}, now);
  EXPECT_THAT(words, Not(HasSubstr("Content-Length")));
  EXPECT_THAT(words, EndsWith("\r\n\r\n"));
}

TEST(ResponseTextDeathTest, LineBreakInAHeaderIsAProgrammerError) {
  const http::response split{.headers = {{.name = "A", .value = "b\r\nSet-Cookie: c"}}};
  EXPECT_DEATH(http::response_text(split, {}, now), "check failed");
}

}  // namespace
}  // namespace tenure::tests
