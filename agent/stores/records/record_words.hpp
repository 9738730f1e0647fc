#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/percent_text.hpp"

/// Records that agents leave in a store for each other: words separated by one blank.
namespace tenure::stores {

/// A name or a text as one word. The usual characters of names stay readable.
inline std::string word_of(std::string_view text) {
  return base::percent_encoded(text, "/:@");
}

inline std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = text.find(' ');
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

}  // namespace tenure::stores
