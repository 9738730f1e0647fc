#pragma once

#include <cstddef>
#include <cstdint>

#include "core/clock.hpp"
#include "core/token_bucket.hpp"

namespace tenure::stores {

/// What a watch may send: so much at once, which is more than ten thousand elections send at their
/// start, and so much a second from then on. A server that sends without end has to wait, instead
/// of occupying a processor; so each piece of the stream and each document in it counts as more
/// bytes than it has, for what it costs to take it.
///
/// Not thread-safe.
class watch_budget {
 public:
  /// A piece with so many bytes and documents has arrived. Returns for how long to read nothing.
  core::duration take(core::time_point now, std::size_t bytes, std::size_t documents) {
    return taken_.take(now,
                       static_cast<std::int64_t>(piece_bytes + bytes + documents * document_bytes));
  }

 private:
  static constexpr std::int64_t most_at_once = std::int64_t{32} << 20U;
  static constexpr std::int64_t most_a_second = std::int64_t{4} << 20U;
  static constexpr std::size_t piece_bytes = 1024;
  static constexpr std::size_t document_bytes = 2048;

  core::token_bucket taken_{most_at_once, most_a_second};
};

}  // namespace tenure::stores
