#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/client/ask.hpp"
#include "core/clock.hpp"
#include "http/client/http_client.hpp"

namespace tenure::cli {

/// Asks an agent for one thing repeatedly, and passes on each answer and each failure. The agent
/// holds an answer back until something has changed; an agent that does not count its changes is
/// asked once a second, and so is one that failed.
///
/// Everything happens on the thread that runs the context, which must outlive this object.
class agent_feed {
 public:
  using handler = std::function<void(const agent_answer&)>;

  /// `path` has no query. `hold`: how long the agent may hold an answer back.
  agent_feed(boost::asio::io_context& on, settings::endpoint agent, std::string path,
             core::duration hold, handler each);

  /// Call once.
  void start() { ask_now(); }

  /// How long the agent may hold the next answers back.
  void hold(core::duration next) { hold_ = next; }

  /// Nothing is passed on afterwards.
  void stop();

  [[nodiscard]] const settings::endpoint& agent() const { return client_->server(); }

 private:
  void ask_now();
  void take(const std::expected<http::client_reply, http::client_error>& reply,
            core::time_point asked_at);
  void ask_later();

  std::unique_ptr<http::http_client> client_;
  boost::asio::steady_timer timer_;
  std::string path_;
  core::duration hold_;
  handler each_;
  std::optional<std::uint64_t> index_;
  bool stopped_ = false;
};

/// Follows `path` until `enough` returns true or the deadline is over. Returns whether `enough`
/// did.
bool follow_until(const settings::endpoint& agent, const std::string& path,
                  core::time_point deadline,
                  const std::function<bool(const agent_answer&)>& enough);

}  // namespace tenure::cli
