#include "http/server/http_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_server.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HttpServer, ConnectionIsKeptForTheNextRequest) {
  const test_server s;
  raw_client client(s.where);
  for (const char* path : {"/a", "/b", "/c"}) {
    const reply r = client.ask(get(path));
    EXPECT_EQ(r.status, 200);
    EXPECT_EQ(r.body, "GET " + std::string(path));
    EXPECT_THAT(r.head, Not(HasSubstr("Connection: close")));
  }
}

TEST(HttpServer, ConnectionIsClosedIfTheClientWantsThat) {
  const test_server s;
  raw_client client(s.where);
  EXPECT_THAT(client.ask(get("/a", "Connection: close\r\n")).head, HasSubstr("Connection: close"));
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServer, Http10IsAnsweredWithoutHostAndClosed) {
  const test_server s;
  raw_client client(s.where);
  EXPECT_EQ(client.ask("GET /old HTTP/1.0\r\n\r\n").body, "GET /old");
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServer, PipelinedRequestsAreAnsweredInOrder) {
  const test_server s;
  raw_client client(s.where);
  client.send(get("/1") + get("/2") + get("/3"));
  EXPECT_EQ(client.receive().body, "GET /1");
  EXPECT_EQ(client.receive().body, "GET /2");
  EXPECT_EQ(client.receive().body, "GET /3");
}

TEST(HttpServer, RequestMayComeInPieces) {
  const test_server s;
  raw_client client(s.where);
  for (const char c : get("/slowly")) client.send(std::string_view(&c, 1));
  EXPECT_EQ(client.receive().body, "GET /slowly");
}

TEST(HttpServer, HeadHasTheLengthButNoBody) {
  const test_server s;
  raw_client client(s.where);
  client.send("HEAD /abc HTTP/1.1\r\nHost: localhost\r\n\r\n" + get("/next"));
  const reply head = client.receive(false);
  EXPECT_EQ(head.status, 200);
  EXPECT_THAT(head.head, HasSubstr("Content-Length: 9\r\n"));  // "HEAD /abc"
  EXPECT_EQ(client.receive().body, "GET /next") << "a body would be in the way of this";
}

TEST(HttpServer, BodiesArriveWithTheirLength) {
  const test_server s;
  raw_client client(s.where);
  EXPECT_EQ(
      client.ask("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello").body,
      "POST /x hello");
}

TEST(HttpServer, BodyInChunksIsRefused) {
  const test_server s;
  raw_client client(s.where);
  const reply r = client.ask(
      "POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n");
  EXPECT_EQ(r.status, 400);
  EXPECT_THAT(r.body, HasSubstr("send a Content-Length"));
  EXPECT_TRUE(client.closed_by_server());
}

TEST(HttpServer, UnknownMethodsReachTheHandlerAsSent) {
  const test_server s;
  raw_client client(s.where);
  EXPECT_EQ(client.ask("BREW /pot HTTP/1.1\r\nHost: localhost\r\n\r\n").body, "BREW /pot");
}

TEST(HttpServer, HeadersThatMatterReachTheHandler) {
  http::request seen;
  {
    test_server s({}, [&](const http::request& asked) {
      seen = asked;
      return http::response{};
    });
    raw_client(s.where).ask(get("/",
                                "Origin: http://o\r\naccept: text/html\r\n"
                                "Authorization: Bearer t\r\nIf-None-Match: \"5\"\r\n"));
  }
  EXPECT_EQ(seen.host, "localhost");
  EXPECT_EQ(seen.origin, "http://o");
  EXPECT_EQ(seen.accept, "text/html");
  EXPECT_EQ(seen.authorization, "Bearer t");
  EXPECT_EQ(seen.if_none_match, "\"5\"");
}

TEST(HttpServer, HostOfAnAbsoluteTargetOverridesTheHeader) {
  http::request seen;
  {
    test_server s({}, [&](const http::request& asked) {
      seen = asked;
      return http::response{};
    });
    raw_client(s.where).ask("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  EXPECT_EQ(seen.host, "evil.example") << "or the check of Host could be gone around";
}

TEST(HttpServer, WhatIsNotARequestIs400InJsonAndTheEndOfTheConnection) {
  const test_server s;
  const std::string bad[] = {
      "\x16\x03\x01\x02\x01\x01\xfc\x03\x03garbage\r\n\r\n",  // a TLS client hello
      std::string("\0\0\0\0\r\n\r\n", 8),
      "GET / HTTP/9.9\r\n\r\n",
      "GET /\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",  // no Host
      "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
      "GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n"
      "\r\n",
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"};
  for (const std::string& bytes : bad) {
    raw_client client(s.where);
    const reply r = client.ask(bytes);
    EXPECT_EQ(r.status, 400) << bytes;
    EXPECT_THAT(r.body, HasSubstr("{\"error\":{\"code\":\"bad_request\"")) << bytes;
    EXPECT_THAT(r.head, HasSubstr("Content-Type: application/json"));
    EXPECT_THAT(r.head, HasSubstr("Connection: close"));
    EXPECT_TRUE(client.closed_by_server());
  }
}

TEST(HttpServer, ClientThatLeavesInTheMiddleDoesNoHarm) {
  const test_server s;
  for (const char* part : {"", "G", "GET / HTTP/1.1\r\nHost: x",
                           "POST / HTTP/1.1\r\nHost: x\r\n"
                           "Content-Length: 9\r\n\r\nabc"}) {
    raw_client client(s.where);
    client.send(part);
  }
  EXPECT_EQ(raw_client(s.where).ask(get("/after")).body, "GET /after");
}

TEST(HttpServer, ListensOnIpv6) {
  const auto probe = http::http_server().listen_on({"::1", 0}, echo);
  if (!probe) GTEST_SKIP() << "no IPv6 here: " << probe.error().text;
  const test_server s({}, echo, "::1");
  EXPECT_EQ(raw_client(s.where).ask(get("/six")).body, "GET /six");
}

TEST(HttpServer, EveryListenerHasItsOwnHandlerAndItsOwnConnections) {
  http::http_server server;
  const http::http_limits one{.connections = 1};
  const auto first = server.listen_on(
      {"127.0.0.1", 0}, [](const http::request&) { return http::response{.body = "first"}; }, one);
  const auto second = server.listen_on(
      {"127.0.0.1", 0}, [](const http::request&) { return http::response{.body = "second"}; }, one);
  ASSERT_TRUE(first && second && server.start());
  raw_client a(*first);
  raw_client b(*second);
  EXPECT_EQ(a.ask(get("/")).body, "first");
  EXPECT_EQ(b.ask(get("/")).body, "second");
  EXPECT_EQ(a.ask(get("/")).body, "first") << "the other listener's client took no room of this";
}

}  // namespace
}  // namespace tenure::tests
