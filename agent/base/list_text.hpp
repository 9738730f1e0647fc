#pragma once

#include <functional>
#include <string>

namespace tenure::base {

/// "a, b, c": the texts of all elements, each as `text_of` gives it.
template <class Range, class TextOf = std::identity>
std::string listed(const Range& all, const TextOf& text_of = {}) {
  std::string out;
  for (const auto& one : all) {
    if (!out.empty()) out += ", ";
    out += std::invoke(text_of, one);
  }
  return out;
}

}  // namespace tenure::base
