#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/call.hpp"
#include "api/election_status.hpp"
#include "api/snapshot.hpp"
#include "http/http_message.hpp"
#include "http/server/answer.hpp"

/// Server-sent events: `/v1/elections/{name}/events`, `/v1/events`, and `/sse` for clients of older
/// sidecars. A stream of states: a slow reader gets only the newest one.
namespace tenure::api {

/// A reader that has received nothing for this long gets a comment.
inline constexpr std::chrono::seconds stream_heartbeat{15};
/// How long a reader is asked to wait before it reconnects.
inline constexpr std::chrono::seconds reconnect_after{2};

/// The head of the answer.
http::response events_head();

/// The texts of the newest events. Each is made once and shared by all readers. Not thread-safe:
/// used on the serving thread.
class event_texts {
 public:
  using text = std::shared_ptr<const std::string>;

  text of_election(const snapshot& seen, std::size_t place, const instant& at);
  text of_older(const snapshot& seen, const instant& at);

 private:
  struct entry {
    std::uint64_t index = 0;
    text what;
  };
  std::vector<entry> elections_;
  entry older_;
};

/// The position of one reader. Not thread-safe: used on the serving thread.
class event_reader {
 public:
  explicit event_reader(calls::events asked) : asked_(std::move(asked)) {}

  /// What to send next; null if the reader has everything.
  event_texts::text next(const snapshot& seen, const instant& at, event_texts& texts);

 private:
  event_texts::text first(const snapshot& seen, const instant& at);
  event_texts::text next_of_one(const snapshot& seen, const instant& at, event_texts& texts);
  event_texts::text next_of_all(const snapshot& seen, const instant& at, event_texts& texts);
  [[nodiscard]] bool has(const snapshot& seen, std::uint64_t index) const;

  calls::events asked_;
  bool begun_ = false;
  static constexpr std::uint64_t nothing = ~std::uint64_t{0};  ///< no index is this large
  std::uint64_t sent_ = nothing;  ///< the last index sent; for `all`, once everything was sent

  // For `all`: elections are sent in turn, so that none has to wait for one that keeps changing.
  std::vector<std::uint64_t> sent_of_;
  std::size_t turn_ = 0;
};

}  // namespace tenure::api
