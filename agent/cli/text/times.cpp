#include "cli/text/times.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/time_text.hpp"

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

std::string moment(std::int64_t unix_ms) {
  std::string out(base::time_text(unix_ms).date_and_time());
  out.resize(out.find('.'));
  std::ranges::replace(out, 'T', ' ');
  return out + "Z";
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
