// Sessions and who renews them, with answers that come when the test says. With real servers:
// tests/contract/consul.
#include "stores/consul/session_keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "stores/consul/cluster.hpp"
#include "support/hand_loop.hpp"

namespace tenure::stores::consul {
namespace {

using namespace std::chrono_literals;

/// What was asked of Consul and is not answered yet.
struct pending {
  std::string target;
  http::reply_handler done;
};

/// Stands in for Consul's HTTP API: the test answers.
class asked_client final : public http::http_client {
 public:
  asked_client(settings::endpoint to, std::deque<pending>& all) : to_(std::move(to)), all_(all) {}

  std::expected<void, std::string> check() override { return {}; }
  void send(http::client_request what, core::time_point, http::reply_handler done) override {
    all_.push_back({.target = std::move(what.target), .done = std::move(done)});
  }
  void warm_up(core::time_point) override {}
  [[nodiscard]] std::unique_ptr<http::http_stream> stream(http::client_request, core::time_point,
                                                          http::stream_handlers) override {
    return nullptr;
  }
  void close() override {}
  [[nodiscard]] const settings::endpoint& server() const override { return to_; }

 private:
  settings::endpoint to_;
  std::deque<pending>& all_;
};

class Sessions : public testing::Test {
 protected:
  static constexpr const char* id = "adf4238a-882b-9ddc-4a9d-5b6758e4159e";

  void answers(const std::string& body) {
    ASSERT_FALSE(asked_.empty());
    pending first = std::move(asked_.front());
    asked_.pop_front();
    http::client_reply reply{{.status = 200}};
    reply.body = body;
    first.done(std::move(reply));
    loop_.run();
  }
  [[nodiscard]] core::time_point soon() const { return loop_.now() + 5s; }

  std::deque<pending> asked_;
  tests::hand_loop loop_;
  std::set<std::string, std::less<>> ours_;
  cluster consul_{loop_,
                  [this](settings::endpoint to, const http::tls_settings&, http::client_limits) {
                    return std::make_unique<asked_client>(std::move(to), asked_);
                  },
                  {settings::endpoint{.host = "127.0.0.1", .port = 8500}},
                  {},
                  {},
                  "",
                  8,
                  8,
                  {},
                  nullptr};
  session_keeper keeper_{loop_, consul_, {.name = "tenure a", .ttl = 15s}, 15s, ours_};
};

/// The session of a place in line is somebody's term from then on, which only a release may end.
TEST_F(Sessions, OneThatWasGivenAwayDoesNotComeBackWithALateRenewal) {
  keeper_.obtain(soon(), [](const auto&) {});
  loop_.run();
  answers(std::string(R"({"ID":")") + id + "\"}");
  keeper_.keep(id, soon(), [](const auto&) {});
  loop_.run();
  keeper_.give_away(id);
  answers(std::string(R"([{"ID":")") + id + R"(","TTL":"15s"}])");
  bool ended = false;
  keeper_.end(soon(), [&] { ended = true; });
  loop_.run();
  EXPECT_TRUE(ended);
  EXPECT_TRUE(asked_.empty()) << asked_.front().target;
}

}  // namespace
}  // namespace tenure::stores::consul
