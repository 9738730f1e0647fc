#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "http/http_message.hpp"

/// What a handler may answer with. Besides a response that is there already: one that waits for
/// something to happen, and one without an end.
namespace tenure::http {

/// Why a held answer is asked whether it is there.
enum class occasion : std::uint8_t {
  news,  ///< something may have changed
  last,  ///< its time is over, or the server ends: now it must answer
};

/// A long poll. It belongs to its connection and ends with it, also when the client hangs up.
struct held_answer {
  /// Called on the server's thread, when `http_server::news` was called and after `limit`. Must
  /// neither block nor throw, and must answer on the last occasion.
  std::function<std::optional<response>(occasion)> ready;
  std::chrono::milliseconds limit{};
};

/// A stream of states, of which a reader is sent the newest whenever there is room for it. What it
/// is too slow for is left out, never queued.
struct streamed_answer {
  response head;  ///< without a body
  /// The next piece for this reader; null if it has everything. Called on the server's thread, and
  /// only when all before it has been taken. Must neither block nor throw.
  std::function<std::shared_ptr<const std::string>()> next;
  std::string idle_text;  ///< sent if nothing else was for `idle`, so that a dead client is noticed
  std::chrono::milliseconds idle{};
};

using answer = std::variant<response, held_answer, streamed_answer>;

}  // namespace tenure::http
