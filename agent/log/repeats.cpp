#include "log/repeats.hpp"

#include <utility>

namespace tenure::log {

std::optional<std::uint64_t> repeats::let_through(const std::string& words, core::time_point now) {
  if (known_.size() >= most_words && !known_.contains(words)) known_.clear();
  const auto [at, is_new] = known_.try_emplace(words, entry{.said = now});
  if (is_new) return 0;
  if (now - at->second.said < say_again) {
    ++at->second.held_back;
    return std::nullopt;
  }
  at->second.said = now;
  return std::exchange(at->second.held_back, 0);
}

}  // namespace tenure::log
