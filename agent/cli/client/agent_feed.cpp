#include "cli/client/agent_feed.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/boot_time.hpp"
#include "http/client/client_route.hpp"
#include "http/client/http_network.hpp"
#include "wire/election.hpp"

namespace tenure::cli {
namespace {

constexpr core::duration look_again = std::chrono::seconds(1);
constexpr core::duration longest_hold = std::chrono::seconds(30);
/// Even with `--timeout 0s` the agent gets time to answer.
constexpr core::duration shortest_patience = std::chrono::seconds(1);
/// Far below where arithmetic with "never" overflows.
constexpr core::duration longest_turn = std::chrono::hours(1);

}  // namespace

agent_feed::agent_feed(boost::asio::io_context& on, settings::endpoint agent, std::string path,
                       core::duration hold, handler each)
    : client_(http::make_http_client(on.get_executor(), std::move(agent), {}, agent_limits)),
      timer_(on),
      path_(std::move(path)),
      hold_(hold),
      each_(std::move(each)) {}

void agent_feed::stop() {
  stopped_ = true;
  timer_.cancel();
  client_->close();
}

void agent_feed::ask_now() {
  const core::time_point now = base::boot_now();
  std::string target = path_;
  core::duration patience = reply_limit;
  if (index_) {
    const auto hold_ms = std::chrono::ceil<std::chrono::milliseconds>(hold_);
    target +=
        "?index=" + std::to_string(*index_) + "&wait=" + std::to_string(hold_ms.count()) + "ms";
    patience += hold_;
  }
  client_->send({.method = "GET", .target = std::move(target)}, now + patience,
                [this, now](const auto& reply) { take(reply, now); });
}

void agent_feed::take(const std::expected<http::client_reply, http::client_error>& reply,
                      core::time_point asked_at) {
  const agent_answer answer = judged(client_->server(), reply);
  const auto before = std::exchange(index_, answer ? wire::index_in(*answer) : std::nullopt);
  each_(answer);
  if (stopped_) return;
  // An agent that should hold its answer back but does not must not be asked in a tight loop.
  const bool held = !before || index_ != before || base::boot_now() - asked_at >= look_again;
  if (index_ && held) {
    ask_now();
  } else {
    ask_later();
  }
}

void agent_feed::ask_later() {
  http::expire_at(timer_, base::boot_now() + look_again);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled && !stopped_) ask_now();
  });
}

bool follow_until(const settings::endpoint& agent, const std::string& path,
                  core::time_point deadline,
                  const std::function<bool(const agent_answer&)>& enough) {
  boost::asio::io_context loop;
  bool found = false;
  bool answered = false;
  agent_feed feed(loop, agent, path, longest_hold, [&](const agent_answer& answer) {
    answered = true;
    found = found || enough(answer);
  });
  feed.start();
  const core::time_point first_answer_by = std::max(deadline, base::boot_now() + shortest_patience);
  while (!found) {
    const core::time_point until = answered ? deadline : first_answer_by;
    const core::time_point now = base::boot_now();
    if (now >= until) break;
    loop.run_one_for(std::min(core::duration(until - now), longest_turn));
  }
  feed.stop();
  return found;
}

}  // namespace tenure::cli
