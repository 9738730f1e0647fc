// When a watch that breaks is opened again: with a loop whose clock is moved by hand, and a server
// that answers every read alike. What a real etcd does to a watch is in tests/contract/etcd.
#include "stores/etcd/watcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenure::stores::etcd {
namespace {

using namespace std::chrono_literals;

/// An event loop without a thread.
class hand_loop final : public base::event_loop {
 public:
  [[nodiscard]] core::time_point now() const override { return now_; }
  [[nodiscard]] std::uint64_t random_bits() override { return 0; }
  void post(task what) override { tasks_.push_back(std::move(what)); }

  /// Runs what is ready, until nothing is.
  void run() {
    while (!tasks_.empty()) {
      task next = std::move(tasks_.front());
      tasks_.pop_front();
      next();
    }
  }

  /// Lets time pass, and calls each timer at its instant.
  void pass(core::duration time) {
    const core::time_point end = now_ + time;
    run();
    while (timers_.next() <= end) {
      now_ = timers_.next();
      timers_.call_due(now_);
      run();
    }
    now_ = end;
  }

 private:
  void timers_changed() override {}

  core::time_point now_{1h};
  std::deque<task> tasks_;
};

std::string header() {
  return R"("header":{"cluster_id":"1","member_id":"2","revision":"5","raft_term":"2"})";
}

/// What the server is asked for.
struct asked {
  std::vector<std::shared_ptr<http::stream_handlers>> streams;  ///< the last one is open
};

/// A fake: an etcd whose election is empty, and which confirms each watch.
class fake_client final : public http::http_client {
 public:
  fake_client(hand_loop& on, asked& of, settings::endpoint at)
      : loop_(on), asked_(of), at_(std::move(at)) {}

  std::expected<void, std::string> check() override { return {}; }
  void send(http::client_request, core::time_point, http::reply_handler done) override {
    http::client_reply reply;
    reply.status = 200;
    reply.body = "{" + header() + R"(,"succeeded":true,"responses":[{"response_range":{}}]})";
    loop_.post([done = std::move(done), reply]() mutable { done(std::move(reply)); });
  }
  void warm_up(core::time_point) override {}
  std::unique_ptr<http::http_stream> stream(http::client_request, core::time_point,
                                            http::stream_handlers on) override {
    auto& opened =
        asked_.streams.emplace_back(std::make_shared<http::stream_handlers>(std::move(on)));
    loop_.post([on = std::weak_ptr(opened)] {
      const auto open = on.lock();
      http::reply_head head;
      head.status = 200;
      open->head(head);
      open->data(R"({"result":{)" + header() + R"(,"watch_id":"1","created":true}})");
    });
    return std::make_unique<silent_stream>();
  }
  void close() override {}
  [[nodiscard]] const settings::endpoint& server() const override { return at_; }

 private:
  struct silent_stream final : http::http_stream {
    void send(std::string_view) override {}
    void pause(core::duration) override {}
  };

  hand_loop& loop_;
  asked& asked_;
  const settings::endpoint at_;
};

/// A watcher of one election that nobody holds.
class Watcher : public ::testing::Test {
 protected:
  Watcher() {
    watcher_.connect();
    loop_.run();
  }
  void TearDown() override {
    watcher_.close();
    cluster_.close();
    loop_.run();
  }

  void break_stream() {
    const auto open = asked_.streams.back();
    open->ended(http::client_error{.text = "reset"});
    loop_.run();
  }

  [[nodiscard]] std::size_t opened() const { return asked_.streams.size(); }

  hand_loop loop_;
  asked asked_;
  int live_ = 0;    ///< how often it was
  int broken_ = 0;  ///< how often that was told
  own_run us_{.ids = lease_ids("session", 1), .identity = "us"};
  std::vector<mirror> mirrors_{mirror({.name = "db"}, us_)};
  std::vector<key_range> ranges_{range_of("db")};
  cluster cluster_{loop_,
                   [this](settings::endpoint at, const http::tls_settings&,
                          http::client_limits) -> std::unique_ptr<http::http_client> {
                     return std::make_unique<fake_client>(loop_, asked_, std::move(at));
                   },
                   {{.host = "a", .port = 2379}, {.host = "b", .port = 2379}},
                   {},
                   8,
                   [] {},
                   {}};
  watcher watcher_{loop_,
                   cluster_,
                   mirrors_,
                   ranges_,
                   1h,
                   {.changed = [](core::election_index) {},
                    .live = [this] { ++live_; },
                    .broken = [this](const call_failure&) { ++broken_; },
                    .heard = {}}};
};

TEST_F(Watcher, ThatBreaksForTheFirstTimeIsOpenedAtOnce) {
  ASSERT_TRUE(watcher_.live());
  break_stream();
  EXPECT_TRUE(watcher_.live());
  EXPECT_EQ(opened(), 2u);
  EXPECT_EQ(broken_, 0);
}

TEST_F(Watcher, ThatBreaksAgainSoonIsOpenedAfterAPauseAndToldToBeBroken) {
  break_stream();
  break_stream();
  EXPECT_FALSE(watcher_.live());
  EXPECT_EQ(opened(), 2u);
  EXPECT_EQ(broken_, 1);
  loop_.pass(1s);
  EXPECT_TRUE(watcher_.live());
  EXPECT_EQ(opened(), 3u);
}

TEST_F(Watcher, ThatHasLivedForLongIsOpenedAtOnceHoweverOftenItBrokeBefore) {
  for (int i = 0; i < 3; ++i) {
    break_stream();
    loop_.pass(1500ms);
  }
  ASSERT_TRUE(watcher_.live());
  const std::size_t before = opened();
  const int told = broken_;
  loop_.pass(5s);
  break_stream();
  EXPECT_TRUE(watcher_.live());
  EXPECT_EQ(opened(), before + 1);
  EXPECT_EQ(broken_, told) << "nobody needs to know";
  loop_.pass(5s);
  break_stream();
  EXPECT_TRUE(watcher_.live()) << "each time";
  EXPECT_EQ(broken_, told);
}

}  // namespace
}  // namespace tenure::stores::etcd
