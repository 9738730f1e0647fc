#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "deferring_server.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

http::response text(const std::string& body) {
  return {.content_type = "text/plain", .body = body};
}

TEST(DeferredAnswer, IsSentWhenItComesFromAnotherThread) {
  deferring_server s;
  raw_client client(s.where);
  for (const char* body : {"first", "second"}) {
    client.send(get("/later"));
    auto respond = s.asked.take();
    ASSERT_TRUE(respond);
    (*respond)(text(body));
    EXPECT_EQ(client.receive().body, body);
  }
}

TEST(DeferredAnswer, KeepsTheOrderOfItsConnectionAndNobodyElseWaiting) {
  deferring_server s;
  raw_client client(s.where);
  client.send(get("/later") + get("/next"));
  auto respond = s.asked.take();
  ASSERT_TRUE(respond);
  EXPECT_EQ(raw_client(s.where).ask(get("/other")).body, "GET /other");
  (*respond)(text("first"));
  EXPECT_EQ(client.receive().body, "first");
  EXPECT_EQ(client.receive().body, "GET /next");
}

TEST(DeferredAnswer, ThatDoesNotComeInTimeIs503AndDroppedWhenItComes) {
  deferring_server s({.answer = 1ms});
  raw_client client(s.where);
  const reply r = client.ask(get("/later"));
  EXPECT_EQ(r.status, 503);
  EXPECT_THAT(r.body, HasSubstr("\"code\":\"no_answer\""));
  auto respond = s.asked.take();
  ASSERT_TRUE(respond);
  (*respond)(text("late"));
  EXPECT_EQ(client.ask(get("/next")).body, "GET /next") << "and the connection is in order";
}

TEST(DeferredAnswer, ThatNobodyGivesAnyMoreIs503AtOnce) {
  deferring_server s({.answer = 1h});
  raw_client client(s.where);
  client.send(get("/later"));
  s.asked.take();  // and dropped
  EXPECT_EQ(client.receive().status, 503);
}

TEST(DeferredAnswer, FirstOneCounts) {
  deferring_server s;
  raw_client client(s.where);
  client.send(get("/later"));
  auto respond = s.asked.take();
  ASSERT_TRUE(respond);
  (*respond)(text("first"));
  (*respond)(text("second"));
  EXPECT_EQ(client.receive().body, "first");
  EXPECT_EQ(client.ask(get("/next")).body, "GET /next");
}

TEST(DeferredAnswer, ClientThatHasGoneDoesNoHarm) {
  deferring_server s;
  std::optional<raw_client> client(s.where);
  client->send(get("/later"));
  auto respond = s.asked.take();
  ASSERT_TRUE(respond);
  client.reset();
  (*respond)(text("for nobody"));
  EXPECT_EQ(raw_client(s.where).ask(get("/after")).body, "GET /after");
}

TEST(DeferredAnswer, IsWaitedForAtShutdown) {
  deferring_server s;
  raw_client idle(s.where);
  EXPECT_EQ(idle.ask(get("/")).status, 200);
  raw_client client(s.where);
  client.send(get("/later"));
  auto respond = s.asked.take();
  ASSERT_TRUE(respond);
  auto ending = std::async(std::launch::async, [&s] { s.server.shutdown(); });
  EXPECT_TRUE(idle.closed_by_server()) << "shutdown has begun";
  (*respond)(text("just in time"));
  const reply r = client.receive();
  EXPECT_EQ(r.body, "just in time");
  EXPECT_THAT(r.head, HasSubstr("Connection: close"));
  EXPECT_EQ(ending.wait_for(patience), std::future_status::ready);
}

TEST(DeferredAnswer, ThatNeverComesDoesNotHoldUpShutdown) {
  deferring_server s({.answer = 1h});
  raw_client client(s.where);
  client.send(get("/later"));
  auto respond = s.asked.take();
  ASSERT_TRUE(respond);
  auto ending = std::async(std::launch::async, [&s] { s.server.shutdown(); });
  ASSERT_EQ(ending.wait_for(patience), std::future_status::ready);
  EXPECT_TRUE(client.closed_by_server());
}

TEST(DeferredAnswer, MayComeWhenTheServerIsNoMore) {
  std::optional<http::responder> respond;
  {
    deferring_server s({.answer = 1ms});
    raw_client client(s.where);
    EXPECT_EQ(client.ask(get("/later")).status, 503);
    auto kept = s.asked.take();
    ASSERT_TRUE(kept);
    respond.emplace(std::move(*kept));
  }
  (*respond)(text("to the void"));
}

TEST(DeferredAnswer, RacesWithItsDeadlineAndOneOfTheTwoWins) {
  deferring_server s({.requests_per_connection = 100'000, .answer = 1ms});
  std::jthread answering([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      auto respond = s.asked.take();
      if (respond) (*respond)(text("given"));
    }
  });
  raw_client client(s.where);
  for (int i = 0; i < 500; ++i) {
    const reply r = client.ask(get("/later"));
    EXPECT_TRUE((r.status == 200 && r.body == "given") || r.status == 503) << r.status << r.body;
  }
  answering.request_stop();
  client.send(get("/later"));  // for the last turn of that loop
  EXPECT_NE(client.receive().status, 0);
}

}  // namespace
}  // namespace tenure::tests
