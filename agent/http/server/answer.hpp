#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "http/http_message.hpp"

/// What a handler may answer with: a response, an answer that waits for an event, or an endless
/// one.
namespace tenure::http {

/// Why a held answer is asked whether it is ready.
enum class occasion : std::uint8_t {
  news,  ///< something may have changed
  last,  ///< its time is over, or the server stops: it must answer now
};

/// A long poll. It belongs to its connection and ends with it, also when the client disconnects.
struct held_answer {
  /// Called on the server's thread after `http_server::news` and after `limit`. Must neither block
  /// nor throw, and must answer on the last occasion.
  std::function<std::optional<response>(occasion)> ready;
  std::chrono::milliseconds limit{};
};

/// A stream of states. A reader gets the newest one whenever it has room for it; a slow reader
/// misses the others, which are never queued.
struct streamed_answer {
  response head;  ///< without a body
  /// The next piece for this reader; null if it has everything. Called on the server's thread, only
  /// after the reader has taken everything before. Must neither block nor throw.
  std::function<std::shared_ptr<const std::string>()> next;
  std::string idle_text;  ///< sent if nothing else was for `idle`, so that a dead client is noticed
  std::chrono::milliseconds idle{};
};

using answer = std::variant<response, held_answer, streamed_answer>;

}  // namespace tenure::http
