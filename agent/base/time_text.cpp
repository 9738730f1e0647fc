#include "base/time_text.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

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

std::string micro_time(std::int64_t unix_ms) {
  std::string out(time_text(unix_ms).date_and_time());
  out.pop_back();
  return out.append("000Z");
}

std::optional<std::int64_t> read_time(std::string_view rfc3339) {
  using namespace std::chrono;
  const std::string text(rfc3339);
  std::array<int, 7> n{};
  const int fields = std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ", &n[0], &n[1], &n[2],
                                 &n[3], &n[4], &n[5], &n[6]);
  if (fields != 7 || n[1] < 0 || n[2] < 0) return std::nullopt;
  const year_month_day date{year(n[0]), month(static_cast<unsigned>(n[1])),
                            day(static_cast<unsigned>(n[2]))};
  if (!date.ok()) return std::nullopt;
  const auto at = sys_days(date) + hours(n[3]) + minutes(n[4]) + seconds(n[5]) + milliseconds(n[6]);
  return duration_cast<milliseconds>(at.time_since_epoch()).count();
}

std::optional<std::int64_t> read_http_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  constexpr std::size_t bytes = 29;
  if (text.size() != bytes) return std::nullopt;
  const auto month = std::ranges::find(months, text.substr(8, 3));
  if (month == months.end()) return std::nullopt;
  const std::string number = std::to_string(month - months.begin() + 1);
  std::string rfc3339(text.substr(12, 4));
  rfc3339.append(number.size() < 2 ? "-0" : "-")
      .append(number)
      .append("-")
      .append(text.substr(5, 2));
  rfc3339.append("T").append(text.substr(17, 8)).append(".000Z");
  return read_time(rfc3339);
}

}  // namespace tenure::base
