#include "stores/busy_servers.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/number_text.hpp"

namespace tenure::stores {
namespace {

/// When to ask again a server that does not say.
constexpr core::duration usual_retry = std::chrono::milliseconds(200);
constexpr std::int64_t most_retry_seconds = 60;
/// Those who wait do not come back all at once: some wait for so much longer.
constexpr int jitter_part = 4;

}  // namespace

core::duration retry_after(const http::reply_head& what) {
  const std::string* const text = what.value("Retry-After");
  const auto seconds = text == nullptr ? std::nullopt : base::read_number<std::int64_t>(*text);
  if (!seconds || *seconds < 0) return usual_retry;
  return std::max<core::duration>(usual_retry,
                                  std::chrono::seconds(std::min(*seconds, most_retry_seconds)));
}

void busy_servers::is_busy(std::size_t server, core::duration pause, std::string why) {
  all_[server] = {.until = loop_.now() + pause, .why = std::move(why)};
}

std::size_t busy_servers::ready_from(std::size_t server) const {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const std::size_t next = (server + i) % all_.size();
    if (!is_busy(next)) return next;
  }
  return server;
}

void busy_servers::wait(std::size_t server, core::time_point deadline, bool is_urgent, patience& of,
                        base::event_loop::task again) {
  of.has_waited = true;
  const core::time_point now = loop_.now();
  const core::time_point ready = until(server);
  const auto more = static_cast<core::duration::rep>(
      loop_.random_bits() % static_cast<std::uint64_t>((ready - now).count() / jitter_part + 1));
  core::time_point next = ready + core::duration(more);
  const core::time_point half = now + (deadline - now) / 2;
  if (is_urgent && half < next && !std::exchange(of.has_pressed, true)) {
    of.presses = true;
    next = half;
  }
  const auto at = waiting_.emplace(waiting_.end(), loop_);
  at->at(std::min(next, deadline), [this, at, again = std::move(again)]() mutable {
    auto due = std::move(again);
    waiting_.erase(at);
    due();
  });
}

}  // namespace tenure::stores
