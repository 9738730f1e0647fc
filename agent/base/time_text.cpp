#include "base/time_text.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace tenure::base {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::sys_time<milliseconds> first = std::chrono::sys_days(
    std::chrono::year_month_day(std::chrono::year(0), std::chrono::January, std::chrono::day(1)));
constexpr std::chrono::sys_time<milliseconds> last =
    std::chrono::sys_days(std::chrono::year_month_day(
        std::chrono::year(9999), std::chrono::December, std::chrono::day(31))) +
    std::chrono::days(1) - milliseconds(1);

}  // namespace

time_text::time_text(std::int64_t unix_ms) {
  const std::chrono::sys_time<milliseconds> when =
      std::clamp(std::chrono::sys_time<milliseconds>(milliseconds(unix_ms)), first, last);
  const auto day = std::chrono::floor<std::chrono::days>(when);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss<milliseconds> time(when - day);
  auto* at = text_.data();
  const auto add = [&at](std::int64_t number, std::size_t width, char end) {
    for (std::size_t digit = width; digit > 0; --digit, number /= 10) {
      at[digit - 1] = static_cast<char>('0' + number % 10);
    }
    at[width] = end;
    at += width + 1;
  };
  add(static_cast<int>(date.year()), 4, '-');
  add(static_cast<unsigned>(date.month()), 2, '-');
  add(static_cast<unsigned>(date.day()), 2, 'T');
  add(time.hours().count(), 2, ':');
  add(time.minutes().count(), 2, ':');
  add(time.seconds().count(), 2, '.');
  add(time.subseconds().count(), 3, 'Z');
}

}  // namespace tenure::base
