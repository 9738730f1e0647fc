#include "base/duration_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace tenure::base {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
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

}  // namespace

std::optional<decimal> take_decimal(std::string_view& text) {
  decimal out;
  const auto take = [&text](std::int64_t& into) {
    std::size_t n = 0;
    for (; n < text.size() && is_digit(text[n]); ++n) {
      if (n == max_decimal_digits) return std::size_t{0};
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
  for (std::size_t i = out.decimals; i < max_decimal_digits; ++i) out.billionths *= 10;
  return out;
}

spoken_text spoken(core::duration d) {
  using std::chrono::milliseconds;
  constexpr std::int64_t tenth = 100;
  constexpr std::int64_t second = 1000;
  constexpr std::int64_t minute = 60 * second;
  constexpr std::int64_t hour = 60 * minute;
  constexpr std::int64_t day = 24 * hour;
  const std::int64_t ms = std::max<std::int64_t>(0, std::chrono::round<milliseconds>(d).count());
  spoken_text out;
  const auto with = [&out](std::int64_t number, std::string_view unit) {
    out.append_number(number);
    out.append(unit);
  };
  const auto two_units = [&](std::int64_t large, std::string_view unit, std::int64_t small,
                             std::string_view small_unit) {
    with(ms / large, unit);
    if (const std::int64_t rest = ms % large / small; rest > 0) {
      out.append(" ");
      with(rest, small_unit);
    }
  };
  if (ms < second) {
    with(ms, " ms");
  } else if (ms < minute) {
    const std::int64_t tenths = (ms + tenth / 2) / tenth;
    with(tenths / 10, "");
    if (tenths % 10 != 0) {
      out.append(".");
      with(tenths % 10, "");
    }
    out.append(" s");
  } else if (ms < hour) {
    two_units(minute, " min", second, " s");
  } else if (ms < day) {
    two_units(hour, " h", minute, " min");
  } else {
    two_units(day, " d", hour, " h");
  }
  return out;
}

std::expected<core::duration, duration_mistake> read_duration(std::string_view text,
                                                              core::duration most) {
  using fault = duration_mistake::fault;
  const auto wrong = [](fault is, std::string_view named = {}) {
    return std::unexpected(duration_mistake{.is = is, .unit = named});
  };
  std::string_view rest = text;
  std::int64_t total = 0;
  std::size_t next_unit = 0;
  if (text.empty()) return wrong(fault::empty);
  if (text.starts_with('-')) return wrong(fault::negative);
  while (!rest.empty()) {
    const std::optional<decimal> number = take_decimal(rest);
    if (!number) return wrong(fault::no_number);
    std::size_t end = 0;
    while (end < rest.size() && !is_digit(rest[end]) && rest[end] != '.') ++end;
    const std::string_view suffix = rest.substr(0, end);
    rest.remove_prefix(end);
    if (suffix.empty()) return wrong(fault::no_unit);
    const auto* const found = std::ranges::find(units, suffix, &unit::suffix);
    if (found == units.end()) return wrong(fault::unknown_unit, suffix);
    const auto place = static_cast<std::size_t>(found - units.begin());
    if (place < next_unit) return wrong(fault::out_of_order);
    next_unit = place + 1;
    // 128 bits, because nine digits of hours do not fit 64 bits of nanoseconds.
    const auto part = static_cast<__int128>(number->whole) * found->nanoseconds +
                      static_cast<__int128>(number->billionths) * found->nanoseconds / billion;
    if (part > most.count() - total) return wrong(fault::too_long);
    total += static_cast<std::int64_t>(part);
  }
  return core::duration(total);
}

}  // namespace tenure::base
