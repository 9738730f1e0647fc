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

/// A server that holds the answer to /wait back until `state` is not 0 any more; it answers the
/// rest at once.
struct holding_server {
  explicit holding_server(http::http_limits limits = {}, std::chrono::milliseconds hold = 1h) {
    auto bound = server.listen_on(
        {"127.0.0.1", 0},
        [this, hold](const http::request& asked, http::responder respond) {
          if (asked.target.path != "/wait") return respond(echo(asked));
          ++held;
          const auto counted = std::shared_ptr<void>(nullptr, [this](void*) { --held; });
          respond(http::held_answer{
              .ready = [this, counted](http::occasion why) -> std::optional<http::response> {
                ++looks;
                if (state == 0 && why != http::occasion::last) return std::nullopt;
                return http::response{.body = "state " + std::to_string(state) + more};
              },
              .limit = hold});
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
  [[nodiscard]] bool comes_to_hold(int count) const {
    return eventually([&] { return held == count; });
  }

  std::string more;  ///< in each answer that was held; set it before the first request
  std::atomic<int> state{0};
  std::atomic<int> held{0};
  std::atomic<int> looks{0};
  settings::listen_address where;
  http::http_server server;
};

TEST(HeldAnswer, ComesWithTheNews) {
  holding_server s;
  raw_client client(s.where);
  client.send(get("/wait"));
  ASSERT_TRUE(s.comes_to_hold(1));
  EXPECT_EQ(raw_client(s.where).ask(get("/other")).body, "GET /other") << "nobody else waits";
  s.server.news();  // of something else
  s.change();
  EXPECT_EQ(client.receive().body, "state 1");
  EXPECT_EQ(client.ask(get("/next")).body, "GET /next") << "and the connection is in order";
}

TEST(HeldAnswer, IsNotHeldIfItIsThereAlready) {
  holding_server s;
  s.change();
  EXPECT_EQ(raw_client(s.where).ask(get("/wait")).body, "state 1");
}

TEST(HeldAnswer, OutlastsTheDeadlineOfAHandlerAndComesAtItsOwn) {
  holding_server s({.idle = 1ms, .read = 1ms, .answer = 1ms, .write = 1ms}, 100ms);
  EXPECT_EQ(raw_client(s.where).ask(get("/wait")).body, "state 0");
}

TEST(HeldAnswer, KeepsTheOrderOfPipelinedRequests) {
  holding_server s;
  raw_client client(s.where);
  client.send(get("/1") + get("/wait") + get("/3"));
  EXPECT_EQ(client.receive().body, "GET /1");
  ASSERT_TRUE(s.comes_to_hold(1));
  s.change();
  EXPECT_EQ(client.receive().body, "state 1");
  EXPECT_EQ(client.receive().body, "GET /3");
}

TEST(HeldAnswer, ThatItsClientDoesNotTakeYetIsFollowedByTheAnswerToWhatItAsksMeanwhile) {
  holding_server s;
  s.more = std::string(std::size_t{16} << 20U, '.');  // more than the kernel takes
  raw_client client(s.where, 4096);
  client.send(get("/wait"));
  ASSERT_TRUE(s.comes_to_hold(1));
  s.change();
  ASSERT_TRUE(s.comes_to_hold(0)) << "it is being sent";
  client.send(get("/next"));
  // A whole round trip of another client: by now the server has read it.
  EXPECT_EQ(raw_client(s.where).ask(get("/other")).body, "GET /other");
  EXPECT_EQ(client.receive().body, "state 1" + s.more);
  EXPECT_EQ(client.receive().body, "GET /next");
}

TEST(HeldAnswer, IsDroppedWhenItsClientHangsUp) {
  holding_server s;
  std::optional<raw_client> client(s.where);
  client->send(get("/wait"));
  ASSERT_TRUE(s.comes_to_hold(1));
  client.reset();
  EXPECT_TRUE(s.comes_to_hold(0)) << "nobody has to wait for news to notice";
}

TEST(HeldAnswer, IsIdleSoThatManyOfThemLockNobodyOut) {
  holding_server s({.connections = 2, .readers = 5});
  std::deque<raw_client> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.emplace_back(s.where).send(get("/wait"));
    ASSERT_TRUE(s.comes_to_hold(i + 1));
  }
  EXPECT_EQ(raw_client(s.where).ask(get("/other")).body, "GET /other");
  const reply refused = raw_client(s.where).ask(get("/wait"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("\"code\":\"too_many_readers\""));
  s.change();
  for (raw_client& client : waiting) EXPECT_EQ(client.receive().body, "state 1");
}

TEST(HeldAnswer, IsGivenAtShutdown) {
  holding_server s;
  raw_client client(s.where);
  client.send(get("/wait"));
  ASSERT_TRUE(s.comes_to_hold(1));
  auto ending = std::async(std::launch::async, [&s] { s.server.shutdown(); });
  const reply r = client.receive();
  EXPECT_EQ(r.body, "state 0");
  EXPECT_THAT(r.head, HasSubstr("Connection: close"));
  EXPECT_EQ(ending.wait_for(patience), std::future_status::ready);
}

TEST(HeldAnswer, StormOfNewsDoesNotPileUp) {
  holding_server s;
  raw_client client(s.where);
  client.send(get("/wait"));
  ASSERT_TRUE(s.comes_to_hold(1));
  constexpr int storm = 1'000'000;
  for (int i = 0; i < storm; ++i) s.server.news();
  // This round trip comes after everything that was queued.
  EXPECT_EQ(raw_client(s.where).ask(get("/other")).status, 200);
  EXPECT_LT(s.looks, storm / 2) << "what was said is not said again until it was heard";
  s.change();
  EXPECT_EQ(client.receive().body, "state 1");
}

TEST(HeldAnswer, AttendantIsCalledAgainWhenItAsksForThat) {
  std::atomic<int> calls{0};
  http::http_server server;
  ASSERT_TRUE(server.listen_on({"127.0.0.1", 0}, echo));
  server.attend_with([&] {
    ++calls;
    return http::attention{.again = 1ms};
  });
  ASSERT_TRUE(server.start());
  EXPECT_TRUE(eventually([&] { return calls > 3; }));
}

}  // namespace
}  // namespace tenure::tests
