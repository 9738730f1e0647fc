#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <future>

#include "test_server.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

bool returns(std::future<void>& call) {
  return call.wait_for(patience) == std::future_status::ready;
}

std::future<void> shutdown_of(test_server& s) {
  return std::async(std::launch::async, [&s] { s.server.shutdown(); });
}

TEST(Shutdown, IdleConnectionsAreClosedAndNobodyIsAcceptedAnyMore) {
  test_server s({.idle = 1h, .read = 1h});
  std::deque<raw_client> clients;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(clients.emplace_back(s.where).ask(get("/")).status, 200);
  }
  auto ending = shutdown_of(s);
  ASSERT_TRUE(returns(ending));
  for (raw_client& c : clients) EXPECT_TRUE(c.closed_by_server());
}

TEST(Shutdown, RequestThatHasBegunIsAnswered) {
  test_server s({.idle = 1h, .read = 1h});
  raw_client begun(s.where);
  const std::string second = get("/second");
  begun.send(get("/first") + second.substr(0, 10));
  EXPECT_EQ(begun.receive().body, "GET /first");
  // A whole round trip of another client: by now the server waits for the rest of the second.
  raw_client idle(s.where);
  EXPECT_EQ(idle.ask(get("/")).status, 200);

  auto ending = shutdown_of(s);
  EXPECT_TRUE(idle.closed_by_server()) << "shutdown has begun";
  begun.send(second.substr(10));
  const reply r = begun.receive();
  EXPECT_EQ(r.body, "GET /second");
  EXPECT_THAT(r.head, HasSubstr("Connection: close"));
  EXPECT_TRUE(returns(ending));
}

TEST(Shutdown, DoesNotWaitForeverForAClientThatNeverFinishes) {
  test_server s({.idle = 1h, .read = 1h});
  raw_client half(s.where);
  const std::string next = get("/next");
  half.send(get("/") + next.substr(0, 10));
  EXPECT_EQ(half.receive().status, 200);
  raw_client(s.where).ask(get("/"));

  auto ending = shutdown_of(s);
  ASSERT_TRUE(returns(ending));
  EXPECT_TRUE(half.closed_by_server());
}

TEST(Shutdown, ClosesConnectionsThatLinger) {
  test_server s;
  raw_client lingering(s.where);
  EXPECT_EQ(lingering.ask("no HTTP\r\n\r\n").status, 400);
  auto ending = shutdown_of(s);
  EXPECT_TRUE(returns(ending));
}

TEST(Shutdown, PortIsFreeAfterwards) {
  auto first = std::make_unique<test_server>();
  const settings::listen_address where = first->where;
  raw_client client(where);
  EXPECT_EQ(client.ask(get("/")).status, 200);
  first.reset();  // the connections of the old life are in TIME_WAIT now
  http::http_server second;
  const auto bound = second.listen_on(where, echo);
  ASSERT_TRUE(bound) << bound.error().text;
  EXPECT_TRUE(second.start());
  EXPECT_EQ(raw_client(where).ask(get("/new")).body, "GET /new");
}

TEST(Shutdown, IsHarmlessTwiceAndBeforeTheStart) {
  http::http_server never_started;
  ASSERT_TRUE(never_started.listen_on({"127.0.0.1", 0}, echo));
  never_started.shutdown();
  EXPECT_TRUE(never_started.start()) << "it has not begun, so nothing has ended";
  test_server s;
  raw_client client(s.where);
  EXPECT_EQ(client.ask(get("/")).status, 200);
  s.server.shutdown();
  s.server.shutdown();
  EXPECT_TRUE(client.closed_by_server());
}

TEST(Shutdown, RightAfterTheStartIsHarmless) {
  for (int i = 0; i < 50; ++i) {
    test_server s;
    raw_client queued(s.where);
    auto ending = shutdown_of(s);
    ASSERT_TRUE(returns(ending)) << "of start " << i;
    EXPECT_TRUE(queued.closed_by_server());
  }
}

}  // namespace
}  // namespace tenure::tests
