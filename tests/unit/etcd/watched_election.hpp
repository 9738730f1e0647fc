#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stores/etcd/cluster.hpp"
#include "stores/etcd/layout.hpp"
#include "stores/etcd/mirror.hpp"
#include "stores/etcd/watcher.hpp"
#include "support/hand_loop.hpp"

namespace tenure::stores::etcd {

/// What a fake client is asked for.
struct asked {
  std::vector<std::shared_ptr<http::stream_handlers>> streams;  ///< the last one is open
};

/// A fake: an etcd whose election is empty, and which confirms each watch.
class fake_client final : public http::http_client {
 public:
  fake_client(tests::hand_loop& on, asked& of, settings::endpoint at)
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

  static std::string header() {
    return R"("header":{"cluster_id":"1","member_id":"2","revision":"5","raft_term":"2"})";
  }

  tests::hand_loop& loop_;
  asked& asked_;
  const settings::endpoint at_;
};

/// A watcher of one election that nobody holds, with a clock that is moved by hand.
class watched_election {
 public:
  explicit watched_election(watcher::handlers on)
      : watching(loop, endpoints, mirrors, ranges, std::chrono::hours(1), std::move(on)) {}
  ~watched_election() {
    watching.close();
    endpoints.close();
    loop.run();
  }
  watched_election(const watched_election&) = delete;
  watched_election& operator=(const watched_election&) = delete;

  void connect() {
    watching.connect();
    loop.run();
  }

  tests::hand_loop loop;
  asked requests;
  const own_run us{.ids = lease_ids("session", 1), .identity = "us"};
  std::vector<mirror> mirrors{mirror({.name = "db"}, us)};
  const std::vector<key_range> ranges{range_of("db")};
  cluster endpoints{loop,
                    [this](settings::endpoint at, const http::tls_settings&,
                           http::client_limits) -> std::unique_ptr<http::http_client> {
                      return std::make_unique<fake_client>(loop, requests, std::move(at));
                    },
                    {{.host = "a", .port = 2379}, {.host = "b", .port = 2379}},
                    {},
                    8,
                    [] {},
                    {}};
  watcher watching;
};

}  // namespace tenure::stores::etcd
