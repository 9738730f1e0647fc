#include "http/server/request_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace tenure::tests {
namespace {

using http::read_result;
using testing::HasSubstr;

constexpr http::request_limits limits{.header_bytes = 1024, .body_bytes = 64};

read_result read(std::string_view bytes) {
  return http::read_request(bytes, limits);
}

const http::received_request* request_in(const read_result& result) {
  return std::get_if<http::received_request>(&result);
}

/// 0 if it is not one.
unsigned status_of(const read_result& result) {
  const auto* why = std::get_if<http::rejection>(&result);
  return why != nullptr ? why->status : 0;
}

std::string with_headers(std::string_view headers, std::string_view body = {}) {
  return "POST /x HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

std::string chunked(std::string_view body) {
  return with_headers("Transfer-Encoding: chunked\r\n", body);
}

TEST(RequestReader, TakesOneRequestAndLeavesTheNext) {
  const std::string first = with_headers("Content-Length: 5\r\n", "hello");
  const read_result result = read(first + "GET / HTTP/1.1\r\n");
  const auto* asked = request_in(result);
  ASSERT_NE(asked, nullptr);
  EXPECT_EQ(asked->size, first.size());
  EXPECT_EQ(asked->what.method, "POST");
  EXPECT_EQ(asked->what.target.path, "/x");
  EXPECT_EQ(asked->what.host, "h");
  EXPECT_EQ(asked->what.body, "hello");
  EXPECT_FALSE(asked->last);
}

TEST(RequestReader, EveryBeginningOfARequestIsIncomplete) {
  const std::vector<std::string> whole{
      "GET /v1/elections?index=3 HTTP/1.1\r\nHost: localhost\r\nAccept: a/b\r\n\r\n",
      with_headers("Content-Length: 5\r\n", "hello")};
  for (const std::string& bytes : whole) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const read_result result = read(bytes.substr(0, size));
      const auto* part = std::get_if<http::incomplete>(&result);
      ASSERT_NE(part, nullptr) << bytes.substr(0, size);
      EXPECT_GT(part->at_least, size) << "it is not worth reading again before more has come";
      EXPECT_LE(part->at_least, bytes.size()) << "with all of it, it is";
    }
    ASSERT_NE(request_in(read(bytes)), nullptr) << bytes;
  }
}

TEST(RequestReader, WhatTwoReadersCouldTakeForTwoThingsIsRefused) {
  const std::vector<std::string> ambiguous{
      with_headers("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!"),
      with_headers("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"),
      with_headers("Content-Length: 5, 5\r\n", "hello"),
      with_headers("Content-Length: +5\r\n", "hello"),
      with_headers("Content-Length: 0x5\r\n", "hello"),
      with_headers("Content-Length: 5 5\r\n", "hello"),
      with_headers("Content-Length:\r\n", "hello"),
      with_headers("Content-Length: 18446744073709551621\r\n", "hello"),
      with_headers("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
      with_headers("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
      with_headers("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
      with_headers("Transfer-Encoding: identity\r\n"),
      with_headers("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
      with_headers("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
      with_headers("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
      with_headers("Transfer-Encoding: \x0b"
                   "chunked\r\n",
                   "0\r\n\r\n"),
      with_headers("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
      "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      with_headers("Content-Length : 5\r\n", "hello"),
      with_headers("X: a\r\n folded: b\r\n"),
      with_headers("X: a\r\n\tContent-Length: 5\r\n"),
      with_headers(" X: a\r\n"),
      with_headers("X: a\nContent-Length: 5\r\n", "hello"),
      with_headers("X: a\rContent-Length: 5\r\n", "hello"),
      with_headers(std::string("X: a\0b\r\n", 8)),
      with_headers(": nameless\r\n"),
      with_headers("no colon\r\n"),
      with_headers("Host: other\r\n"),
      with_headers("Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"),
      "GET / HTTP/1.1\nHost: h\n\n",
      "GET / HTTP/1.1\r\nHost: h\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET / HTTP/1.1 \r\nHost: h\r\n\r\n",
      " GET / HTTP/1.1\r\nHost: h\r\n\r\n",
      "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET / http/1.1\r\nHost: h\r\n\r\n",
      "GET / HTTP/1.2\r\nHost: h\r\n\r\n",
      "GET / HTTP/2.0\r\nHost: h\r\n\r\n",
      "GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET /\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n",
      "G(T / HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET /\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"};
  for (const std::string& bytes : ambiguous) EXPECT_EQ(status_of(read(bytes)), 400u) << bytes;
}

TEST(RequestReader, ChunksAreRefusedAndGamesWithThemToo) {
  const std::vector<std::string> games{"3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
                                       "0\r\n\r\n",
                                       "40\r\n" + std::string(64, 'x') + "\r\n0\r\n\r\n",
                                       "41\r\n",
                                       "ffffffff\r\n",
                                       "",
                                       "5;x=y\r\nhello\r\n0\r\n\r\n",
                                       "5 \r\nhello\r\n0\r\n\r\n",
                                       " 5\r\nhello\r\n0\r\n\r\n",
                                       "+5\r\nhello\r\n0\r\n\r\n",
                                       "-5\r\nhello\r\n0\r\n\r\n",
                                       "0x5\r\nhello\r\n0\r\n\r\n",
                                       "5\nhello\r\n0\r\n\r\n",
                                       "5\r\nhelloX0\r\n\r\n",
                                       "5\r\nhello!\r\n0\r\n\r\n",
                                       "\r\n",
                                       "0\r\nX: trailer\r\n\r\n",
                                       "000000005\r\nhello\r\n0\r\n\r\n",
                                       "10000000000000005\r\nhello\r\n0\r\n\r\n"};
  for (const std::string& body : games) EXPECT_EQ(status_of(read(chunked(body))), 400u) << body;
}

TEST(RequestReader, BodyMayNotGrowBeyondItsLimit) {
  const std::string full(limits.body_bytes, 'x');
  const auto announced = [](std::size_t size) {
    return with_headers("Content-Length: " + std::to_string(size) + "\r\n");
  };
  EXPECT_NE(request_in(read(announced(full.size()) + full)), nullptr);
  EXPECT_EQ(status_of(read(announced(full.size() + 1))), 413u) << "before any of it has come";
}

TEST(RequestReader, OnlyAPostHasABody) {
  for (const char* method : {"GET", "HEAD", "PUT", "DELETE", "BREW"}) {
    const std::string head = std::string(method) + " / HTTP/1.1\r\nHost: h\r\nContent-Length: ";
    EXPECT_EQ(status_of(read(head + "5\r\n\r\nhello")), 400u) << method;
    EXPECT_NE(request_in(read(head + "0\r\n\r\n")), nullptr) << method;
  }
}

TEST(RequestReader, HeadMayNotGrowBeyondItsLimit) {
  const auto with_size = [](std::size_t size) {
    const std::string around = "GET / HTTP/1.1\r\nHost: h\r\nX: \r\n\r\n";
    return "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(size - around.size(), 'x') + "\r\n\r\n";
  };
  EXPECT_NE(request_in(read(with_size(limits.header_bytes))), nullptr);
  EXPECT_EQ(status_of(read(with_size(limits.header_bytes + 1))), 431u);
  EXPECT_EQ(status_of(read(std::string(limits.header_bytes, 'A'))), 431u);
}

TEST(RequestReader, HeadersThatAreListsAreOneList) {
  const auto result = read(
      with_headers("If-None-Match: \"a\"\r\nAccept: x\r\nIf-None-Match: \"b\"\r\naccept:y \r\n"));
  const auto* asked = request_in(result);
  ASSERT_NE(asked, nullptr);
  EXPECT_EQ(asked->what.if_none_match, "\"a\", \"b\"");
  EXPECT_EQ(asked->what.accept, "x, y");
}

TEST(RequestReader, ConnectionEndsIfTheClientSaysSoOrSpeaksTheOldVersion) {
  const auto ends = [](const std::string& bytes) {
    const auto result = read(bytes);
    const auto* asked = request_in(result);
    EXPECT_NE(asked, nullptr) << bytes;
    return asked != nullptr && asked->last;
  };
  EXPECT_FALSE(ends(with_headers("Connection: keep-alive\r\n")));
  EXPECT_TRUE(ends(with_headers("Connection: close\r\n")));
  EXPECT_TRUE(ends(with_headers("Connection: x, Close\r\n")));
  EXPECT_TRUE(ends(with_headers("Connection: x\r\nconnection: CLOSE\r\n")));
  EXPECT_FALSE(ends(with_headers("Connection: closed\r\n")));
  EXPECT_TRUE(ends("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

TEST(RequestReader, RejectionIsJsonThatSaysWhatToDo) {
  const auto result = read("GET / HTTP/1.1\r\nHost: h\r\nbad header\r\n\r\n");
  ASSERT_EQ(status_of(result), 400u);
  const http::response answer = http::to_response(std::get<http::rejection>(result));
  EXPECT_EQ(answer.status, 400u);
  EXPECT_THAT(answer.body,
              HasSubstr("\"code\":\"bad_request\",\"message\":\"a header has no colon"));
  EXPECT_THAT(answer.body, HasSubstr("\"action\":\"send an HTTP/1.1 request"));
}

}  // namespace
}  // namespace tenure::tests
