#include <algorithm>

#include "base/duration_text.hpp"
#include "base/number_text.hpp"
#include "config/values.hpp"
#include "core/check.hpp"

namespace tenure::config {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr const char* duration_hint = "write it as 500ms, 15s or 1m30s";

/// The text without blanks, if that is what makes it right.
std::string without_blanks(std::string_view text) {
  std::string out(text);
  std::erase(out, ' ');
  return out;
}

}  // namespace

parsed<core::duration> parse_duration(std::string_view text) {
  const auto read = base::read_duration(text, max_duration);
  if (read) return *read;
  using fault = base::duration_mistake::fault;
  switch (read.error().is) {
    case fault::empty:
      return wrong("is empty", duration_hint);
    case fault::negative:
      return wrong("is " + quote(text) + ", less than nothing", duration_hint);
    case fault::no_number:
      return wrong("is " + quote(text) + ", which is not a duration", duration_hint);
    case fault::no_unit:
      return wrong("is " + quote(text) + ", without a unit",
                   "say which unit: " + quote(std::string(text) + "s"));
    case fault::unknown_unit: {
      const std::string closed_up = without_blanks(text);
      if (closed_up != text && parse_duration(closed_up)) {
        return wrong("is " + quote(text) + ", with a blank in it", "write " + quote(closed_up));
      }
      return wrong("is " + quote(text) + "; " + quote(read.error().unit) + " is not a unit",
                   "the units are h, m, s, ms and us");
    }
    case fault::out_of_order:
      return wrong("is " + quote(text) + ", with its units out of order", duration_hint);
    case fault::too_long:
      return wrong("is " + quote(text) + ", longer than anything here lasts", duration_hint);
  }
  TENURE_CHECK(false);
}

parsed<std::uint32_t> parse_percent(std::string_view text) {
  constexpr std::int64_t max_percent = 100;
  constexpr std::size_t max_decimals = 4;  // of a percent: one part per million
  std::string_view rest = text;
  const std::optional<base::decimal> number = base::take_decimal(rest);
  if (!number) return wrong("is " + quote(text) + ", which is not a percentage", "write it as 1%");
  if (rest != "%") {
    const std::string proper = std::string(text.substr(0, text.size() - rest.size())) + "%";
    return wrong("is " + quote(text) + ", which is not a percentage", "write it as " + proper);
  }
  if (number->whole > max_percent || number->decimals > max_decimals) {
    return wrong("is " + quote(text), "give up to 100% and no more than four decimals");
  }
  return static_cast<std::uint32_t>(number->whole * 10'000 + number->billionths / 100'000);
}

parsed<std::int64_t> parse_integer(std::string_view text, std::int64_t least, std::int64_t most) {
  const std::string range = "give " + std::to_string(least) + " to " + std::to_string(most);
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  const bool is_whole = !digits.empty() && std::ranges::all_of(digits, is_digit) &&
                        (text == "0" || !digits.starts_with('0'));
  if (!is_whole) return wrong("is " + quote(text) + ", which is not a whole number", range);
  const auto number = base::read_number<std::int64_t>(text);
  if (!number || *number < least || *number > most) {
    return wrong("is " + quote(text) + ", out of its range", range);
  }
  return *number;
}

}  // namespace tenure::config
