// More clients than a listener serves: who has to give way, and to whom.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <future>

#include "deferring_server.hpp"
#include "support/eventually.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;

/// More than the kernel will buffer between two loopback sockets.
constexpr std::size_t more_than_buffers = 32 * 1024 * 1024;
constexpr int small_receive_buffer = 4096;

/// A server whose answer to /big is more than the kernel takes from it while nobody reads.
struct big_server {
  explicit big_server(http::http_limits limits)
      : server(limits, [this](const http::request& asked) {
          if (asked.target.path != "/big") return echo(asked);
          ++big_ones;
          return http::response{.body = std::string(more_than_buffers, 'x')};
        }) {}

  /// One more client that asks for /big and does not read; returns once it is being answered.
  raw_client& add_deaf_client() {
    const int before = big_ones;
    raw_client& out = deaf.emplace_back(server.where, small_receive_buffer);
    out.send(get("/big"));
    EXPECT_TRUE(eventually([&] { return big_ones > before; }));
    return out;
  }
  reply ask(const char* path) { return raw_client(server.where).ask(get(path)); }

  std::atomic<int> big_ones = 0;
  test_server server;
  std::deque<raw_client> deaf;
};

TEST(Crowd, OneConnectionTooManyEndsTheOneThatWasSilentLongest) {
  const test_server s({.connections = 3});
  std::deque<raw_client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(s.where);
    EXPECT_EQ(clients.back().ask(get("/")).status, 200);
  }
  // The first has asked again, so that the second is now the one that was silent longest.
  EXPECT_EQ(clients[0].ask(get("/again")).status, 200);
  raw_client fourth(s.where);
  EXPECT_EQ(fourth.ask(get("/fourth")).body, "GET /fourth");
  EXPECT_TRUE(clients[1].closed_by_server());
  EXPECT_EQ(clients[0].ask(get("/")).status, 200);
  EXPECT_EQ(clients[2].ask(get("/")).status, 200);
}

TEST(Crowd, OfSilentClientsLocksNobodyOut) {
  const test_server s;
  std::deque<raw_client> crowd;
  for (int i = 0; i < 200; ++i) crowd.emplace_back(s.where).send(i % 2 == 0 ? "" : "GET /");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(raw_client(s.where).ask(get("/probe")).body, "GET /probe");
  }
}

TEST(Crowd, OfClientsThatDoNotReadLocksNobodyOut) {
  big_server s({.connections = 4, .write = std::chrono::hours(1)});
  for (int i = 0; i < 4; ++i) s.add_deaf_client();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(s.ask("/livez").body, "GET /livez");
    s.add_deaf_client();
  }
}

TEST(Crowd, AClientThatPipelinesWithoutEndLocksNobodyOut) {
  std::atomic<bool> begun = false;
  std::promise<void> other_is_there;
  const test_server s({.connections = 1, .requests_per_connection = 1'000'000},
                      [&](const http::request& asked) {
                        if (!begun.exchange(true)) other_is_there.get_future().wait();
                        return echo(asked);
                      });
  std::string many;
  for (int i = 0; i < 2'000; ++i) many += get("/");
  raw_client busy(s.where);
  busy.send(many);
  ASSERT_TRUE(eventually([&] { return begun.load(); }));
  raw_client other(s.where);
  other.send(get("/livez"));
  other_is_there.set_value();
  EXPECT_EQ(other.receive().body, "GET /livez");
}

/// A client that has much to ask waits for its turn after every few answers.
TEST(Crowd, AClientThatPipelinesGivesWayAfterAFewAnswers) {
  std::atomic<std::size_t> answered = 0;
  std::atomic<std::size_t> answered_before_livez = 0;
  std::promise<void> other_is_there;
  const test_server s({.requests_per_connection = 1'000'000}, [&](const http::request& asked) {
    if (asked.target.path == "/livez") answered_before_livez = answered.load();
    if (answered++ == 0) other_is_there.get_future().wait();
    return echo(asked);
  });
  constexpr std::size_t in_one_read = 300;
  std::string many;
  for (std::size_t i = 0; i < in_one_read; ++i) many += get("/");
  raw_client busy(s.where);
  busy.send(many);
  ASSERT_TRUE(eventually([&] { return answered.load() > 0; }));
  raw_client other(s.where);
  other.send(get("/livez"));
  other_is_there.set_value();
  EXPECT_EQ(other.receive().body, "GET /livez");
  EXPECT_LT(answered_before_livez.load(), in_one_read / 2);
}

TEST(Crowd, WhoDoesNotReadGivesWayAfterWhoAsksNothing) {
  big_server s({.connections = 2, .write = std::chrono::hours(1)});
  raw_client& deaf = s.add_deaf_client();
  raw_client idle(s.server.where);
  EXPECT_EQ(idle.ask(get("/")).status, 200);
  EXPECT_EQ(s.ask("/third").body, "GET /third");
  EXPECT_TRUE(idle.closed_by_server());
  EXPECT_EQ(deaf.receive().body.size(), more_than_buffers) << "it is answered once it reads";
}

TEST(Crowd, ClientsOfOneAddressPushOutTheirOwn) {
  const test_server s({.connections = 3});
  raw_client other(s.where, 0, "127.0.0.2");
  EXPECT_EQ(other.ask(get("/first")).status, 200);
  std::deque<raw_client> crowd;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(crowd.emplace_back(s.where).ask(get("/")).status, 200);
  EXPECT_EQ(other.ask(get("/second")).body, "GET /second") << "it was silent longest";
  EXPECT_TRUE(crowd.front().closed_by_server());
}

TEST(Crowd, UnreadAnswersTakeABoundedRoom) {
  big_server s(
      {.unread_bytes = more_than_buffers + more_than_buffers / 2, .write = std::chrono::hours(1)});
  raw_client& first = s.add_deaf_client();
  raw_client& second = s.add_deaf_client();
  EXPECT_LT(first.read_to_end(), more_than_buffers) << "the one that has waited longest is dropped";
  EXPECT_EQ(second.receive().body.size(), more_than_buffers);
}

TEST(Crowd, ARequestWhoseAnswerIsAwaitedGivesWayIfItChangesNothing) {
  deferring_server s({.connections = 1, .answer = std::chrono::hours(1)});
  raw_client reader(s.where);
  reader.send(get("/later"));
  const auto respond = s.asked.take();
  ASSERT_TRUE(respond);
  EXPECT_EQ(raw_client(s.where).ask(get("/livez")).body, "GET /livez");
  EXPECT_TRUE(reader.closed_by_server());
}

TEST(Crowd, IfAllAreOrdersThatAreCarriedOutTheNextClientGets503) {
  deferring_server s({.connections = 1, .answer = std::chrono::hours(1)});
  raw_client busy(s.where);
  busy.send("POST /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
  auto respond = s.asked.take();
  ASSERT_TRUE(respond);
  raw_client late(s.where);
  const reply r = late.receive();
  EXPECT_EQ(r.status, 503);
  EXPECT_THAT(r.body, HasSubstr("too_many_connections"));
  EXPECT_TRUE(late.closed_by_server());
  (*respond)(http::response{.body = "done"});
  EXPECT_EQ(busy.receive().body, "done");
}

}  // namespace
}  // namespace tenure::tests
