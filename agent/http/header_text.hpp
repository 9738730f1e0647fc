#pragma once

#include <strings.h>

#include <string_view>

/// The syntax of HTTP header names and values.
namespace tenure::http {

/// Without blanks and tabs around it.
inline std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// True if they differ at most in the case of ASCII letters.
inline bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace tenure::http
