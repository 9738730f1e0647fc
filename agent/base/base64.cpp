#include "base/base64.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenure::base {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 0xff;
constexpr std::size_t group_bytes = 3;
constexpr std::size_t group_digits = 4;

constexpr std::array<std::uint8_t, 256> digit_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + group_bytes - 1) / group_bytes * group_digits);
  for (std::size_t at = 0; at < bytes.size(); at += group_bytes) {
    const std::string_view group = bytes.substr(at, group_bytes);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < group_bytes; ++i) {
      bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    }
    for (std::size_t i = 0; i < group_digits; ++i) {
      text += i <= group.size() ? alphabet[bits >> (18 - 6 * i) & 63U] : '=';
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % group_digits != 0) return std::nullopt;
  std::size_t digits = text.size();
  while (digits > 0 && text.size() - digits < 2 && text[digits - 1] == '=') --digits;

  std::string bytes;
  bytes.reserve(text.size() / group_digits * group_bytes);
  std::uint32_t bits = 0;
  unsigned waiting = 0;
  for (const char c : text.substr(0, digits)) {
    const std::uint8_t value = digit_values[static_cast<unsigned char>(c)];
    if (value == no_digit) return std::nullopt;
    bits = bits << 6 | value;
    waiting += 6;
    if (waiting < 8) continue;
    waiting -= 8;
    bytes += static_cast<char>(bits >> waiting & 0xffU);
  }
  const std::uint32_t left_over = bits & ((1U << waiting) - 1U);
  if (left_over != 0) return std::nullopt;
  return bytes;
}

}  // namespace tenure::base
