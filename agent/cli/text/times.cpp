#include "cli/text/times.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace tenure::cli {
namespace {

constexpr std::int64_t second = 1000;
constexpr std::int64_t minute = 60 * second;
constexpr std::int64_t hour = 60 * minute;
constexpr std::int64_t day = 24 * hour;

std::string printed(const char* format, std::int64_t large, std::int64_t small) {
  std::array<char, 48> out{};
  std::snprintf(out.data(), out.size(), format, static_cast<long long>(large),
                static_cast<long long>(small));
  return out.data();
}

}  // namespace

std::optional<std::int64_t> unix_ms_of(std::string_view rfc3339) {
  const std::string text(rfc3339);
  int y = 0;
  unsigned mo = 0;
  unsigned d = 0;
  int h = 0;
  int mi = 0;
  int s = 0;
  int ms = 0;
  if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d.%3dZ", &y, &mo, &d, &h, &mi, &s, &ms) !=
      7) {
    return std::nullopt;
  }
  using namespace std::chrono;
  const year_month_day date{year(y), month(mo), std::chrono::day(d)};
  if (!date.ok()) return std::nullopt;
  const auto at = sys_days(date) + hours(h) + minutes(mi) + seconds(s) + milliseconds(ms);
  return duration_cast<milliseconds>(at.time_since_epoch()).count();
}

std::string moment(std::string_view rfc3339) {
  std::string out(rfc3339.substr(0, rfc3339.find('.')));
  std::ranges::replace(out, 'T', ' ');
  return out + (out.ends_with('Z') ? "" : "Z");
}

std::string span(std::int64_t ms) {
  if (ms < second) return std::to_string(std::max<std::int64_t>(ms, 0)) + "ms";
  if (ms < minute) return std::to_string(ms / second) + "s";
  if (ms < hour) return printed("%lldm%02llds", ms / minute, ms % minute / second);
  if (ms < day) return printed("%lldh%02lldm", ms / hour, ms % hour / minute);
  return printed("%lldd%02lldh", ms / day, ms % day / hour);
}

std::string remainder(std::int64_t ms) {
  if (ms >= minute || ms < 0) return span(ms);
  return printed("%lld.%llds", ms / second, ms % second / 100);
}

}  // namespace tenure::cli
