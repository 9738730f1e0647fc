#include <algorithm>
#include <array>

#include "config/values.hpp"

namespace tenure::config {
namespace {

std::unexpected<mistake> wrong(std::string what, std::string suggestion = {}) {
  return std::unexpected(mistake{std::move(what), std::move(suggestion)});
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Enough for every range here, and far from overflow.
constexpr std::size_t max_digits = 9;

/// A decimal number as units and billionths of a unit.
struct decimal {
  std::int64_t whole = 0;
  std::int64_t billionths = 0;
  std::size_t decimals = 0;
};

/// Takes a number off the front of `text`; empty if there is none or it is too long.
std::optional<decimal> take_decimal(std::string_view& text) {
  decimal out;
  const auto take = [&text](std::int64_t& into) {
    std::size_t n = 0;
    for (; n < text.size() && is_digit(text[n]); ++n) {
      if (n == max_digits) return std::size_t{0};
      into = into * 10 + (text[n] - '0');
    }
    text.remove_prefix(n);
    return n;
  };
  if (take(out.whole) == 0) return std::nullopt;
  if (!text.starts_with('.')) return out;
  text.remove_prefix(1);
  out.decimals = take(out.billionths);
  if (out.decimals == 0) return std::nullopt;
  for (std::size_t i = out.decimals; i < max_digits; ++i) out.billionths *= 10;
  return out;
}

struct unit {
  std::string_view suffix;
  std::int64_t nanoseconds;
};
/// From large to small, the order in which they may follow each other.
constexpr std::array<unit, 5> units{{{"h", 3'600'000'000'000},
                                     {"m", 60'000'000'000},
                                     {"s", 1'000'000'000},
                                     {"ms", 1'000'000},
                                     {"us", 1'000}}};

constexpr std::int64_t billion = 1'000'000'000;
constexpr const char* duration_hint = "write it as 500ms, 15s or 1m30s";

/// The text without blanks, if that is what makes it right.
std::string without_blanks(std::string_view text) {
  std::string out(text);
  std::erase(out, ' ');
  return out;
}

}  // namespace

parsed<core::duration> parse_duration(std::string_view text) {
  std::string_view rest = text;
  std::int64_t total = 0;
  std::size_t next_unit = 0;
  if (text.empty()) return wrong("is empty", duration_hint);
  if (text.starts_with('-'))
    return wrong("is " + quote(text) + ", less than nothing", duration_hint);
  while (!rest.empty()) {
    const std::optional<decimal> number = take_decimal(rest);
    if (!number) return wrong("is " + quote(text) + ", which is no duration", duration_hint);
    std::size_t end = 0;
    while (end < rest.size() && !is_digit(rest[end]) && rest[end] != '.') ++end;
    const std::string_view suffix = rest.substr(0, end);
    rest.remove_prefix(end);
    if (suffix.empty()) {
      return wrong("is " + quote(text) + ", without a unit",
                   "say which unit: " + quote(std::string(text) + "s"));
    }
    const auto* const found = std::ranges::find(units, suffix, &unit::suffix);
    if (found == units.end()) {
      const std::string closed_up = without_blanks(text);
      if (closed_up != text && parse_duration(closed_up)) {
        return wrong("is " + quote(text) + ", with a blank in it", "write " + quote(closed_up));
      }
      return wrong("is " + quote(text) + "; " + quote(suffix) + " is no unit",
                   "the units are h, m, s, ms and us");
    }
    const auto place = static_cast<std::size_t>(found - units.begin());
    if (place < next_unit) {
      return wrong("is " + quote(text) + ", with its units out of order", duration_hint);
    }
    next_unit = place + 1;
    // 128 bits, because nine digits of hours do not fit 64 bits of nanoseconds.
    const auto part = static_cast<__int128>(number->whole) * found->nanoseconds +
                      static_cast<__int128>(number->billionths) * found->nanoseconds / billion;
    if (part > max_duration.count() - total) {
      return wrong("is " + quote(text) + ", longer than anything here lasts", duration_hint);
    }
    total += static_cast<std::int64_t>(part);
  }
  return core::duration(total);
}

parsed<std::uint32_t> parse_percent(std::string_view text) {
  constexpr std::int64_t max_percent = 100;
  constexpr std::size_t max_decimals = 4;  // of a percent: one part per million
  std::string_view rest = text;
  const std::optional<decimal> number = take_decimal(rest);
  if (!number) return wrong("is " + quote(text) + ", which is no percentage", "write it as 1%");
  if (rest != "%") {
    const std::string proper = std::string(text.substr(0, text.size() - rest.size())) + "%";
    return wrong("is " + quote(text) + ", which is no percentage", "write it as " + proper);
  }
  if (number->whole > max_percent || number->decimals > max_decimals) {
    return wrong("is " + quote(text), "give up to 100% and no more than four decimals");
  }
  return static_cast<std::uint32_t>(number->whole * 10'000 + number->billionths / 100'000);
}

parsed<std::uint32_t> parse_integer(std::string_view text, std::uint32_t least,
                                    std::uint32_t most) {
  const std::string range = "give " + std::to_string(least) + " to " + std::to_string(most);
  const bool digits = !text.empty() && std::ranges::all_of(text, is_digit);
  if (!digits || (text.size() > 1 && text.starts_with('0'))) {
    return wrong("is " + quote(text) + ", which is no whole number", range);
  }
  std::uint64_t number = 0;
  for (const char c : text.substr(0, max_digits + 1)) {
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (text.size() > max_digits || number < least || number > most) {
    return wrong("is " + quote(text) + ", out of its range", range);
  }
  return static_cast<std::uint32_t>(number);
}

}  // namespace tenure::config
