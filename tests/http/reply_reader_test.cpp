#include "http/client/reply_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::tests {
namespace {

using form = http::reply_reader::form;
using testing::HasSubstr;

constexpr http::client_limits small{.header_bytes = 512, .body_bytes = 64};

http::reply_reader whole(bool head = false) {
  return {small, form::whole, head};
}

/// What is wrong with these bytes, followed by the end of the connection.
std::string fault(std::string_view bytes) {
  http::reply_reader reader = whole();
  if (auto taken = reader.take(bytes); !taken) return taken.error();
  if (auto ended = reader.end(); !ended) return ended.error();
  return {};
}

TEST(ReplyReader, ReplyIsTheSameHoweverItsBytesAreCut) {
  const std::string bytes =
      "HTTP/1.1 100 Continue\r\n\r\n"
      "HTTP/1.1 200 OK\r\nX-Index: 7\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: x\r\n\r\n";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    http::reply_reader reader = whole();
    ASSERT_TRUE(reader.take(bytes.substr(0, cut))) << cut;
    ASSERT_EQ(reader.done(), cut == bytes.size()) << cut;
    ASSERT_TRUE(reader.take(bytes.substr(cut))) << cut;
    ASSERT_TRUE(reader.done()) << cut;
    EXPECT_EQ(reader.head().status, 200u);
    ASSERT_NE(reader.head().value("x-index"), nullptr);
    EXPECT_EQ(*reader.head().value("x-index"), "7");
    EXPECT_EQ(reader.head().value("x-other"), nullptr);
    EXPECT_EQ(reader.take_body(), "hello world");
    EXPECT_TRUE(reader.keeps_connection());
  }
}

TEST(ReplyReader, SomeRepliesHaveNoBodyWhateverTheirHeadersSay) {
  http::reply_reader to_head = whole(true);
  ASSERT_TRUE(to_head.take("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"));
  EXPECT_TRUE(to_head.done());
  http::reply_reader no_content = whole();
  ASSERT_TRUE(no_content.take("HTTP/1.1 204 No Content\r\n\r\n"));
  EXPECT_TRUE(no_content.done());
  EXPECT_TRUE(no_content.keeps_connection());
}

TEST(ReplyReader, BodyWithoutLengthEndsWithTheConnection) {
  http::reply_reader reader = whole();
  ASSERT_TRUE(reader.take("HTTP/1.0 200 OK\r\n\r\nabc"));
  EXPECT_FALSE(reader.done());
  ASSERT_TRUE(reader.end());
  EXPECT_EQ(reader.take_body(), "abc");
}

TEST(ReplyReader, ConnectionIsKeptOnlyIfNothingSpeaksAgainstIt) {
  for (const char* bytes : {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                            "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK"}) {
    http::reply_reader reader = whole();
    ASSERT_TRUE(reader.take(bytes));
    ASSERT_TRUE(reader.done());
    EXPECT_FALSE(reader.keeps_connection()) << bytes;
  }
}

TEST(ReplyReader, PiecesAreTakenOutAsTheyCome) {
  http::reply_reader reader(small, form::pieces, false);
  ASSERT_TRUE(reader.take("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab"));
  EXPECT_EQ(reader.take_body(), "ab");
  ASSERT_TRUE(reader.take("c\r\n"));
  EXPECT_EQ(reader.take_body(), "c");
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(reader.take("a\r\n0123456789\r\n")) << "a stream has no limit as a whole";
    EXPECT_EQ(reader.take_body(), "0123456789");
  }
}

TEST(ReplyReader, PromisedLengthReservesNothing) {
  http::reply_reader reader(small, form::pieces, false);
  ASSERT_TRUE(reader.take("HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\nab"));
  EXPECT_EQ(reader.take_body(), "ab");
}

TEST(ReplyReader, TruncatedOrBrokenRepliesAreErrors) {
  EXPECT_THAT(fault(""), HasSubstr("without a reply"));
  EXPECT_THAT(fault("HTTP/1.1 20"), HasSubstr("in the middle of its reply"));
  EXPECT_THAT(fault("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"),
              HasSubstr("in the middle of its reply"));
  EXPECT_THAT(fault("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc"),
              HasSubstr("in the middle of its reply"));
  EXPECT_THAT(fault("HTTP/1.1 100 Continue\r\n\r\n"), HasSubstr("without a reply"));
  EXPECT_THAT(fault("SSH-2.0-OpenSSH_9.2\r\n"), HasSubstr("is not HTTP/1.1"));
  EXPECT_THAT(fault("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
              HasSubstr("is not HTTP/1.1"));
  EXPECT_THAT(fault("HTTP/1.1 101 Switching Protocols\r\n\r\n"), HasSubstr("another protocol"));
  EXPECT_THAT(fault("\x15\x03\x01\x00\x02\x02\x46"), HasSubstr("https://"));
}

TEST(ReplyReader, LimitsAreErrorsThatNameThem) {
  const std::string head = "HTTP/1.1 200 OK\r\n";
  EXPECT_THAT(fault(head + "A: " + std::string(600, 'a')), HasSubstr("larger than 512 bytes"));
  EXPECT_THAT(fault(head + "Content-Length: 65\r\n\r\n"), HasSubstr("larger than 64 bytes"));
  EXPECT_THAT(fault(head + "\r\n" + std::string(65, 'a')), HasSubstr("larger than 64 bytes"));
  EXPECT_THAT(
      fault(head + "Transfer-Encoding: chunked\r\n\r\n41\r\n" + std::string(65, 'a') + "\r\n"),
      HasSubstr("larger than 64 bytes"));
  EXPECT_THAT(fault(head + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(600, 'a')),
              HasSubstr("does not end"));
  std::string interim;
  for (unsigned i = 0; i <= http::reply_reader::most_interim; ++i) {
    interim += "HTTP/1.1 103 Early Hints\r\n\r\n";
  }
  EXPECT_THAT(fault(interim), HasSubstr("interim replies"));
}

}  // namespace
}  // namespace tenure::tests
