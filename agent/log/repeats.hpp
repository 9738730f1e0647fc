#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/clock.hpp"

namespace tenure::log {

/// Keeps a log readable while a store is out of reach: ten thousand elections that fail for the
/// same reason, again and again, are one line now and then.
///
/// Not thread-safe.
class repeats {
 public:
  /// The same words are let through this often.
  static constexpr core::duration say_again = std::chrono::seconds(30);
  /// Different words that are remembered; beyond that all are forgotten, and said once more.
  static constexpr std::size_t most_words = 64;

  /// How often these words were held back since they were last let through; nothing if they are to
  /// be held back now.
  std::optional<std::uint64_t> let_through(const std::string& words, core::time_point now);

 private:
  struct entry {
    core::time_point said{};
    std::uint64_t held_back = 0;
  };
  std::map<std::string, entry> known_;
};

}  // namespace tenure::log
