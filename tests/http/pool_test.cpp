// Connections are few, and requests wait in turn.
#include <gmock/gmock.h>

#include <atomic>
#include <future>

#include "scene.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using pending = std::shared_ptr<std::optional<outcome>>;

TEST(Pool, RequestsBeyondTheConnectionsWaitInTurn) {
  std::mutex lock;
  std::vector<std::string> order;
  scripted_server server([&](peer& with, int) {
    for (std::string asked = with.request(); !asked.empty(); asked = with.request()) {
      {
        const std::lock_guard hold(lock);
        order.push_back(asked.substr(0, asked.find(" HTTP/")));
      }
      with.reply("ok");
    }
  });
  scene s(server.where(), {.connections = 1});
  std::vector<pending> all;
  for (int i = 0; i < 50; ++i) all.push_back(s.send(get("/" + std::to_string(i))));
  for (const pending& one : all) {
    ASSERT_TRUE(s.run_until([&] { return one->has_value(); }));
    EXPECT_EQ(words(**one), "200 ok");
  }
  EXPECT_EQ(server.connections(), 1);
  ASSERT_EQ(order.size(), 50u);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(order[static_cast<std::size_t>(i)], "GET /" + std::to_string(i));
  }
}

TEST(Pool, ThereAreNeverMoreConnectionsThanTheLimit) {
  std::atomic<int> open = 0;
  std::atomic<int> most = 0;
  scripted_server server([&](peer& with, int) {
    const int now = ++open;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    while (!with.request().empty()) with.reply("ok");
    --open;
  });
  scene s(server.where(), {.connections = 3});
  std::vector<pending> all;
  for (int i = 0; i < 200; ++i) all.push_back(s.send(post("{}")));
  ASSERT_TRUE(s.run_until(
      [&] { return std::ranges::all_of(all, [](const pending& p) { return p->has_value(); }); }));
  for (const pending& one : all) EXPECT_EQ(words(**one), "200 ok");
  EXPECT_EQ(most, 3);
  EXPECT_EQ(server.connections(), 3);
}

/// Answers nothing until told.
struct held_server {
  std::promise<void> release;
  std::shared_future<void> released{release.get_future()};
  std::atomic<int> requests = 0;
  scripted_server server{[this](peer& with, int) {
    while (!with.request().empty()) {
      ++requests;
      released.wait_for(patience);
      with.reply("ok");
    }
  }};
};

TEST(Pool, RequestWhoseDeadlinePassesWhileItWaitsIsCertainlyNotSent) {
  held_server held;
  scene s(held.server.where(), {.connections = 1});
  const pending first = s.send(get("/first"));
  const std::string said = words(s.ask(get("/second"), shortly()));
  EXPECT_THAT(said, StartsWith("not sent: GET /second"));
  EXPECT_THAT(said, HasSubstr("waiting for a free connection"));
  held.release.set_value();
  ASSERT_TRUE(s.run_until([&] { return first->has_value(); }));
  EXPECT_EQ(words(**first), "200 ok");
  EXPECT_EQ(words(s.ask(get("/third"))), "200 ok");
  EXPECT_EQ(held.requests, 2);
}

TEST(Pool, RequestThatComesTooLateIsNotSentEvenIfAConnectionIsFree) {
  held_server held;
  held.release.set_value();
  scene s(held.server.where());
  EXPECT_EQ(words(s.ask(get())), "200 ok");
  EXPECT_THAT(words(s.ask(get(), base::boot_now() - 1ns)), StartsWith("not sent: "));
  EXPECT_EQ(words(s.ask(get())), "200 ok");
  EXPECT_EQ(held.requests, 2);
}

TEST(Pool, QueueHasALimitAndRefusesBeyondIt) {
  held_server held;
  scene s(held.server.where(), {.connections = 1, .waiting = 2});
  std::vector<pending> taken;
  for (int i = 0; i < 3; ++i) taken.push_back(s.send(get()));
  const std::string said = words(s.ask(get("/fourth")));
  EXPECT_THAT(said, StartsWith("not sent: GET /fourth"));
  EXPECT_THAT(said, HasSubstr("2 requests wait for a connection already"));
  held.release.set_value();
  for (const pending& one : taken) {
    ASSERT_TRUE(s.run_until([&] { return one->has_value(); }));
    EXPECT_EQ(words(**one), "200 ok");
  }
}

TEST(Pool, UrgentRequestGoesBeforeThoseThatWait) {
  held_server held;
  scene s(held.server.where(), {.connections = 1});
  std::vector<std::string> order;
  const auto note = [&order](const char* name) {
    return [&order, name](const outcome&) { order.emplace_back(name); };
  };
  s.client->send(get("/first"), soon(), note("first"));
  s.client->send(get("/second"), soon(), note("second"));
  s.client->send({.method = "GET", .target = "/urgent", .urgent = true}, soon(), note("urgent"));
  held.release.set_value();
  ASSERT_TRUE(s.run_until([&] { return order.size() == 3; }));
  EXPECT_THAT(order, testing::ElementsAre("first", "urgent", "second"));
}

TEST(Pool, ReservedConnectionIsThereForAnUrgentRequestHoweverManyOthersHang) {
  std::promise<void> release;
  const std::shared_future<void> released(release.get_future());
  scripted_server server([&](peer& with, int) {
    for (std::string asked = with.request(); !asked.empty(); asked = with.request()) {
      if (!asked.starts_with("GET /urgent")) released.wait_for(patience);
      with.reply("ok");
    }
  });
  scene s(server.where(), {.connections = 2, .reserved = 1});
  std::vector<pending> others;
  for (int i = 0; i < 5; ++i) others.push_back(s.send(get()));
  EXPECT_EQ(words(s.ask({.method = "GET", .target = "/urgent", .urgent = true})), "200 ok");
  EXPECT_EQ(words(s.ask({.method = "GET", .target = "/urgent", .urgent = true})), "200 ok");
  EXPECT_EQ(server.connections(), 2);
  for (const pending& one : others) EXPECT_FALSE(one->has_value());
  release.set_value();
  for (const pending& one : others) {
    ASSERT_TRUE(s.run_until([&] { return one->has_value(); }));
    EXPECT_EQ(words(**one), "200 ok");
  }
}

TEST(Pool, WarmConnectionsAreOpenBeforeTheFirstRequestAndAreNotClosedForIdling) {
  std::atomic<int> open = 0;
  scripted_server server([&](peer& with, int) {
    ++open;
    while (!with.request().empty()) with.reply("ok");
    --open;
  });
  scene s(server.where(), {.connections = 4, .warm = 2, .idle = 20ms});
  s.client->warm_up(soon());
  ASSERT_TRUE(s.run_until([&] { return open == 2; }));
  s.io.poll();  // the client learns of it, too
  // A third one is closed for idling, and when it is, the others would have been, too.
  std::vector<pending> three;
  for (int i = 0; i < 3; ++i) three.push_back(s.send(get()));
  for (const pending& one : three) {
    ASSERT_TRUE(s.run_until([&] { return one->has_value(); }));
  }
  EXPECT_EQ(server.connections(), 3);
  ASSERT_TRUE(s.run_until([&] { return open == 2; }));
  s.client->warm_up(soon());
  EXPECT_EQ(words(s.ask(get())), "200 ok");
  EXPECT_EQ(server.connections(), 3);
}

TEST(Pool, WarmConnectionThatTheServerHasClosedIsReplacedByTheNextWarmUp) {
  std::atomic<int> ended = 0;
  scripted_server server([&](peer& with, int number) {
    if (number > 1) with.closed();
    ++ended;
  });
  scene s(server.where(), {.connections = 4, .warm = 1});
  s.client->warm_up(soon());
  ASSERT_TRUE(s.run_until([&] { return ended == 1; }));
  ASSERT_TRUE(s.run_until([&] {
    s.client->warm_up(soon());
    return server.connections() == 2;
  }));
}

TEST(Pool, ClientMayBeClosedWhileItWarmsUp) {
  scripted_server server([](peer& with, int) { with.closed(); });
  scene s(server.where(), {.connections = 4, .warm = 4});
  s.client->warm_up(soon());
  s.client.reset();
  EXPECT_TRUE(s.run_until([&] { return s.io.stopped(); }));
}

TEST(Pool, ConnectionIsClosedOnceItHasBeenIdleForTooLong) {
  std::atomic<bool> closed = false;
  scripted_server server([&](peer& with, int) {
    with.request();
    with.reply("ok");
    closed = with.closed();
  });
  scene s(server.where(), {.idle = 50ms});
  EXPECT_EQ(words(s.ask(get())), "200 ok");
  EXPECT_TRUE(s.run_until([&] { return closed.load(); }));
  EXPECT_EQ(words(s.ask(get())), "200 ok");
  EXPECT_EQ(server.connections(), 2);
}

TEST(Pool, RequestThatWaitsGetsAConnectionOfItsOwnWhenTheOneBeforeBreaks) {
  scripted_server server([](peer& with, int number) {
    with.request();
    if (number == 1) return;
    with.reply("ok");
    with.closed();
  });
  scene s(server.where(), {.connections = 1});
  const pending first = s.send(get());
  EXPECT_EQ(words(s.ask(get())), "200 ok");
  ASSERT_TRUE(first->has_value());
  EXPECT_THAT(words(**first), StartsWith("in doubt: "));
}

}  // namespace
}  // namespace tenure::tests
