#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "support/patience.hpp"
#include "test_server.hpp"

namespace tenure::tests {

/// Keeps the responders of /later until the test answers them; answers the rest at once.
class later {
 public:
  http::http_server::deferring_handler handler() {
    return [this](const http::request& asked, http::responder respond) {
      if (asked.target.path != "/later") return respond(echo(asked));
      const std::lock_guard lock(mutex_);
      kept_.push_back(std::move(respond));
      came_.notify_all();
    };
  }

  /// The next one that was asked; fails the test if none comes.
  std::optional<http::responder> take() {
    std::unique_lock lock(mutex_);
    if (!came_.wait_for(lock, patience, [this] { return !kept_.empty(); })) {
      ADD_FAILURE() << "nobody has asked";
      return std::nullopt;
    }
    std::optional<http::responder> out(std::move(kept_.front()));
    kept_.pop_front();
    return out;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<http::responder> kept_;
};

/// A server whose answers to /later are the test's.
struct deferring_server {
  explicit deferring_server(http::http_limits limits = {}) {
    auto bound = server.listen_on({"127.0.0.1", 0}, asked.handler(), limits);
    if (!bound) {
      ADD_FAILURE() << bound.error().text;
      return;
    }
    where = *bound;
    EXPECT_TRUE(server.start());
  }

  later asked;
  settings::listen_address where;
  http::http_server server;
};

}  // namespace tenure::tests
