#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "http/server/traffic.hpp"
#include "support/eventually.hpp"
#include "test_server.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// More than the kernel will buffer between two loopback sockets.
constexpr std::size_t more_than_buffers = 32 * 1024 * 1024;
constexpr int small_receive_buffer = 4096;

TEST(Limits, HeadersThatAreTooLargeAre431) {
  const test_server s({.header_bytes = 2048});
  raw_client fits(s.where);
  EXPECT_EQ(fits.ask(get("/", "X: " + std::string(1500, 'x') + "\r\n")).status, 200);
  for (const std::size_t size : {std::size_t{2048}, std::size_t{1024 * 1024}}) {
    raw_client client(s.where);
    const reply r = client.ask(get("/", "X: " + std::string(size, 'x') + "\r\n"));
    EXPECT_EQ(r.status, 431) << size;
    EXPECT_THAT(r.body, HasSubstr("headers_too_large"));
  }
}

TEST(Limits, EndlessRequestLineIs431) {
  const test_server s;
  raw_client client(s.where);
  EXPECT_EQ(client.ask(std::string(64 * 1024, 'A')).status, 431);
}

TEST(Limits, AnswerIsNotOvertakenByAResetBecauseOfBytesThatWereNotRead) {
  const test_server s({.header_bytes = 1024});
  raw_client client(s.where);
  EXPECT_EQ(client.ask(std::string(16 * 1024, 'A')).status, 431);
  EXPECT_TRUE(client.closed_by_server());
  // A whole round trip of another client: a hasty server has closed the first by now.
  raw_client(s.where).ask(get("/"));
  EXPECT_FALSE(client.was_reset());
}

TEST(Limits, BodyThatIsTooLargeIs413BeforeAnyOfItHasCome) {
  const test_server s({.body_bytes = 10});
  raw_client announced(s.where);
  EXPECT_EQ(
      announced.ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\n").status,
      413);
}

TEST(Limits, ClientThatNeverFinishesItsRequestIsDroppedAndBlocksNobody) {
  const test_server s({.read = 100ms});
  raw_client slow(s.where);
  slow.send("GET / HTTP/1.1\r\nHost: loc");
  EXPECT_EQ(raw_client(s.where).ask(get("/quick")).body, "GET /quick");
  EXPECT_TRUE(slow.closed_by_server());
}

TEST(Limits, DeadlineOfARequestIsNotMovedByItsBytes) {
  const test_server s(
      {.header_bytes = 1024 * 1024, .requests_per_connection = 1'000'000, .read = 100ms});
  raw_client dripping(s.where);
  raw_client other(s.where);
  dripping.send("GET / HTTP/1.1\r\nHost: localhost\r\nX: ");
  const auto give_up = std::chrono::steady_clock::now() + patience;
  // Each byte takes the time of another client's round trip.
  while (dripping.send("x")) {
    ASSERT_EQ(other.ask(get("/")).status, 200);
    ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "its bytes keep it alive";
  }
  EXPECT_TRUE(dripping.closed_by_server()) << "dropped, not answered";
}

TEST(Limits, IdleConnectionIsClosed) {
  const test_server s({.idle = 50ms});
  raw_client silent(s.where);
  EXPECT_TRUE(silent.closed_by_server());
}

TEST(Limits, ClientThatDoesNotReadItsAnswerIsDropped) {
  http::traffic counted;
  http::http_server server;
  const auto where = server.listen_on(
      {"127.0.0.1", 0},
      [](const http::request&) {
        return http::response{.body = std::string(more_than_buffers, 'x')};
      },
      {.write = 100ms}, &counted);
  ASSERT_TRUE(where && server.start());
  raw_client slow(*where, small_receive_buffer);
  slow.send(get("/"));
  ASSERT_TRUE(eventually([&] { return counted.connections_opened() == 1; }));
  EXPECT_TRUE(eventually([&] { return counted.connections() == 0; })) << "it was not dropped";
  EXPECT_LT(slow.read_to_end(), more_than_buffers);
}

TEST(Limits, ConnectionIsClosedAfterItsLastRequest) {
  const test_server s({.requests_per_connection = 2});
  raw_client client(s.where);
  EXPECT_EQ(client.ask(get("/1")).status, 200);
  EXPECT_THAT(client.ask(get("/2")).head, HasSubstr("Connection: close"));
  EXPECT_TRUE(client.closed_by_server());
}

}  // namespace
}  // namespace tenure::tests
