#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/boot_time.hpp"
#include "http/client/http_network.hpp"
#include "scripted_server.hpp"

namespace tenure::tests {

using namespace std::chrono_literals;

using outcome = std::expected<http::client_reply, http::client_error>;

inline core::time_point soon() {
  return base::boot_now() + patience;
}

/// For deadlines that are meant to pass.
inline core::time_point shortly() {
  return base::boot_now() + 100ms;
}

/// The store's event loop, as far as a client needs it. Runs until a condition holds, never for a
/// time.
class loop {
 public:
  /// False if the condition did not come true within `patience`.
  [[nodiscard]] bool run_until(const std::function<bool()>& condition) {
    const core::time_point limit = soon();
    while (!condition()) {
      if (base::boot_now() > limit) return false;
      io.restart();
      io.run_one_for(10ms);
    }
    return true;
  }

  boost::asio::io_context io{1};
};

/// A client of one server and its loop. Each `ask` waits for what becomes of it.
struct scene : loop {
  explicit scene(const settings::endpoint& of, http::client_limits limits = {},
                 http::tls_settings tls = {})
      : client(http::make_http_client(io.get_executor(), of, std::move(tls), limits)) {}

  /// Sends, and returns where the outcome will be.
  std::shared_ptr<std::optional<outcome>> send(http::client_request what,
                                               core::time_point deadline = soon()) {
    auto into = std::make_shared<std::optional<outcome>>();
    client->send(std::move(what), deadline, [into](outcome o) {
      EXPECT_FALSE(into->has_value()) << "a handler is called once";
      *into = std::move(o);
    });
    EXPECT_FALSE(into->has_value()) << "a handler is not called from within the call";
    return into;
  }

  outcome ask(http::client_request what, core::time_point deadline = soon()) {
    const auto into = send(std::move(what), deadline);
    if (!run_until([&] { return into->has_value(); })) {
      ADD_FAILURE() << "no outcome at all";
      return std::unexpected(http::client_error{});
    }
    return **into;
  }

  std::unique_ptr<http::http_client> client;
};

inline http::client_request get(std::string target = "/") {
  return {.method = "GET", .target = std::move(target)};
}

inline http::client_request post(std::string body, std::string target = "/") {
  return {.method = "POST", .target = std::move(target), .body = std::move(body)};
}

/// "200 body", or "not sent: text" or "in doubt: text".
inline std::string words(const outcome& o) {
  if (o) return std::to_string(o->status) + " " + o->body;
  return (o.error().how == http::sending::not_sent ? "not sent: " : "in doubt: ") + o.error().text;
}

}  // namespace tenure::tests
