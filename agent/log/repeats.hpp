#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/clock.hpp"

namespace tenure::log {

/// Keeps the log readable while a store is unreachable: ten thousand elections that keep failing
/// for the same reason write one line from time to time.
///
/// Not thread-safe.
class repeats {
 public:
  /// The same words pass at most this often.
  static constexpr core::duration say_again = std::chrono::seconds(30);
  /// This many different words are remembered; beyond that all are forgotten and pass once more.
  static constexpr std::size_t most_words = 64;

  /// If the words may pass, how often they were held back since they last passed; nothing if they
  /// are held back now.
  std::optional<std::uint64_t> let_through(const std::string& words, core::time_point now);

 private:
  struct entry {
    core::time_point said{};
    std::uint64_t held_back = 0;
  };
  std::map<std::string, entry> known_;
};

}  // namespace tenure::log
