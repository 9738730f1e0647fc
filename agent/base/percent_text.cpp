#include "base/percent_text.hpp"

#include <cstddef>

#include "base/number_text.hpp"

namespace tenure::base {
namespace {

bool is_unreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view("-._~").contains(c);
}

}  // namespace

std::string percent_encoded(std::string_view plain, std::string_view kept) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  out.reserve(plain.size());
  for (const char c : plain) {
    if (is_unreserved(c) || kept.contains(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', digits[byte >> 4U], digits[byte & 15U]};
  }
  return out;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  constexpr std::size_t digits = 2;
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const std::string_view code = text.substr(i + 1, digits);
    const auto byte = read_number<unsigned>(code, 16);
    if (!byte || code.size() < digits) return std::nullopt;
    out += static_cast<char>(*byte);
    i += digits;
  }
  return out;
}

}  // namespace tenure::base
