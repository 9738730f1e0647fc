#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::config {

/// The form that all spelling variants of a word (killBudget, kill-budget) share.
std::string folded(std::string_view word);

/// The one of `known` that `given` was probably meant to be, or "" if none is near. Spelling
/// variants are the same word; otherwise a third of the letters may be wrong.
std::string_view closest(std::string_view given, std::span<const std::string_view> known);

/// `did you mean "ttl"?`, or "".
std::string did_you_mean(std::string_view given, std::span<const std::string_view> known);

/// At most `most` of `known`, the nearest to what was given first.
std::vector<std::string_view> nearest(std::string_view given,
                                      std::span<const std::string_view> known, std::size_t most);

/// "a, b or c".
std::string choices(std::span<const std::string_view> words);

}  // namespace tenure::config
