#pragma once

#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

/// Whole numbers as programs write them. Strict: only digits, and a sign where noted.
namespace tenure::base {

/// Reads `text` as one number; nothing if it contains anything else or does not fit. A minus sign
/// is accepted only if `Integer` is signed.
template <class Integer>
std::optional<Integer> read_number(std::string_view text, int base = 10) {
  Integer out{};
  const char* const end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, out, base);
  return error == std::errc{} && read_to == end ? std::optional(out) : std::nullopt;
}

/// In lower-case digits, without leading zeros.
inline std::string hex(std::uint64_t number) {
  char digits[16];
  return {std::begin(digits), std::to_chars(std::begin(digits), std::end(digits), number, 16).ptr};
}

}  // namespace tenure::base
