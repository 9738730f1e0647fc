#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <future>
#include <optional>

#include "support/eventually.hpp"
#include "test_server.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

/// A server that streams `state` on /stream, each state in `piece_bytes`; it answers the rest at
/// once.
struct streaming_server {
  explicit streaming_server(http::http_limits limits = {}, std::size_t piece_bytes = 0,
                            std::chrono::milliseconds idle = 1h) {
    auto bound = server.listen_on(
        {"127.0.0.1", 0},
        [this, piece_bytes, idle](const http::request& asked, http::responder respond) {
          if (asked.target.path != "/stream") return respond(echo(asked));
          ++readers;
          const auto counted = std::shared_ptr<void>(nullptr, [this](void*) { --readers; });
          respond(http::streamed_answer{
              .head = {.content_type = "text/event-stream"},
              .next = [this, piece_bytes, counted,
                       sent = -1]() mutable -> std::shared_ptr<const std::string> {
                const int now = state;
                if (now == sent) return nullptr;
                sent = now;
                ++pieces;
                return std::make_shared<const std::string>("<" + std::to_string(now) +
                                                           std::string(piece_bytes, '.') + ">");
              },
              .idle_text = "<idle>",
              .idle = idle});
        },
        limits);
    if (!bound) {
      ADD_FAILURE() << bound.error().text;
      return;
    }
    where = *bound;
    server.attend_with([] { return http::attention{.news = true}; });
    EXPECT_TRUE(server.start());
  }

  void change() {
    ++state;
    server.news();
  }

  std::atomic<int> state{0};
  std::atomic<int> readers{0};
  std::atomic<int> pieces{0};
  settings::listen_address where;
  http::http_server server;
};

TEST(Stream, HasThePresentStateAndThenEveryChangeInChunks) {
  streaming_server s;
  raw_client client(s.where);
  client.send(get("/stream"));
  const reply head = client.receive(false);
  EXPECT_EQ(head.status, 200);
  EXPECT_THAT(head.head, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_THAT(head.head, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(head.head, Not(HasSubstr("Content-Length")));
  EXPECT_EQ(client.receive_through("\r\n<0>\r\n"), "3\r\n<0>\r\n");
  s.change();
  EXPECT_EQ(client.receive_through("<1>\r\n"), "3\r\n<1>\r\n");
}

TEST(Stream, ForTheOldVersionEndsWithTheConnection) {
  streaming_server s;
  raw_client client(s.where);
  client.send("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_THAT(client.receive(false).head, Not(HasSubstr("Transfer-Encoding")));
  EXPECT_EQ(client.receive_through(">"), "<0>");
  s.change();
  EXPECT_EQ(client.receive_through(">"), "<1>");
  s.server.shutdown();
  EXPECT_TRUE(client.closed_by_server());
}

TEST(Stream, AnswerToHeadIsItsHeadAlone) {
  const streaming_server s;
  raw_client client(s.where);
  client.send("HEAD /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive(false).status, 200);
  EXPECT_TRUE(client.closed_by_server());
}

TEST(Stream, SaysThatItLivesWhileThereIsNothingNew) {
  const streaming_server s({}, 0, 10ms);
  raw_client client(s.where);
  client.send(get("/stream"));
  client.receive_through("<0>\r\n");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.receive_through("<idle>\r\n"), "6\r\n<idle>\r\n");
}

TEST(Stream, SlowReaderIsSentTheNewestStateAndNotAllThatItMissed) {
  constexpr std::size_t large = 256 * 1024;
  streaming_server s({.write = 1h}, large);
  raw_client slow(s.where, 4096);
  slow.send(get("/stream"));
  raw_client fast(s.where);
  fast.send(get("/stream"));
  constexpr int changes = 200;
  fast.receive_through("<0");
  for (int i = 1; i <= changes; ++i) {
    s.change();
    fast.receive_through("<" + std::to_string(i) + ".");
  }
  EXPECT_EQ(s.readers, 2) << "and it was not in the way of the other";
  // What it gets is far less than what has happened, and ends with the newest.
  const std::string all = slow.receive_through("<" + std::to_string(changes) + ".");
  EXPECT_LT(all.size(), changes * large / 2);
}

TEST(Stream, ReaderThatTakesNothingIsDropped) {
  streaming_server s({.write = 50ms}, 1024 * 1024);
  raw_client stalled(s.where, 4096);
  stalled.send(get("/stream"));
  EXPECT_TRUE(eventually([&] { return s.readers == 1; }));
  EXPECT_TRUE(eventually([&] { return s.readers == 0; }));
}

TEST(Stream, ReaderThatHangsUpIsForgotten) {
  streaming_server s;
  std::optional<raw_client> client(s.where);
  client->send(get("/stream"));
  client->receive_through("<0>");
  client.reset();
  EXPECT_TRUE(eventually([&] { return s.readers == 0; }));
}

TEST(Stream, ReadersHaveALimitOfTheirOwn) {
  streaming_server s({.connections = 2, .readers = 4});
  std::deque<raw_client> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back(s.where).send(get("/stream"));
    readers.back().receive_through("<0>");
  }
  EXPECT_EQ(raw_client(s.where).ask(get("/other")).status, 200);
  const reply refused = raw_client(s.where).ask(get("/stream"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("too_many_readers"));
  readers.pop_back();
  EXPECT_TRUE(eventually([&] { return raw_client(s.where).ask(get("/stream")).status == 200; }));
}

TEST(Stream, EndsInOrderAtShutdown) {
  streaming_server s;
  raw_client client(s.where);
  client.send(get("/stream"));
  client.receive_through("<0>\r\n");
  auto ending = std::async(std::launch::async, [&s] { s.server.shutdown(); });
  EXPECT_EQ(client.receive_through("0\r\n\r\n"), "0\r\n\r\n");
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_EQ(ending.wait_for(patience), std::future_status::ready);
}

TEST(Stream, StalledReaderDoesNotHoldUpShutdown) {
  streaming_server s({.write = 1h}, 1024 * 1024);
  raw_client stalled(s.where, 4096);
  stalled.send(get("/stream"));
  EXPECT_TRUE(eventually([&] { return s.pieces == 1; }));
  auto ending = std::async(std::launch::async, [&s] { s.server.shutdown(); });
  EXPECT_EQ(ending.wait_for(patience), std::future_status::ready);
}

}  // namespace
}  // namespace tenure::tests
