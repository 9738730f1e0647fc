#include <algorithm>
#include <cstdio>

#include "small_world.hpp"

namespace tenure::explore {
namespace {

const char* name(mail what) {
  switch (what) {
    case mail::acquire:
      return "acquire";
    case mail::renew:
      return "renew";
    case mail::ask_own:
      return "ask_own";
    case mail::release:
      return "release";
    case mail::granted:
      return "granted";
    case mail::refused:
      return "refused";
    case mail::renewed:
      return "renewed";
    case mail::own:
      return "own";
    case mail::released:
      return "released";
  }
  return "?";
}

const char* name(act what) {
  switch (what) {
    case act::carry:
      return "arrives:";
    case act::stall:
      return "is slow:";
    case act::fail:
      return "fails:";
    case act::wake:
      return "looks at the clock";
    case act::hear:
      return "hears of its guard";
    case act::see:
      return "reads its watch";
    case act::open:
      return "opens its watch";
    case act::start:
      return "comes up";
    case act::end:
      return "'s workload ends as told";
    case act::expire:
      return "'s lease runs out";
    case act::go_on:
      return "goes on";
    case act::pass:
      return "a tick passes";
    case act::crash:
      return "'s agent dies";
    case act::freeze:
      return "is stopped";
    case act::lag:
      return "'s watch lags";
    case act::sleep:
      return "'s machine is suspended";
    case act::exit:
      return "'s workload ends by itself";
    case act::cut:
      return "'s watch breaks";
    case act::remove:
      return "'s key is deleted";
    case act::restore:
      return "a backup is restored";
    case act::resign:
      return "is told to resign";
    case act::shut_down:
      return "is told to end";
    case act::wither:
      return "'s place in line runs out";
    case act::queue:
      return "stands in line";
    case act::sicken:
      return "'s workload becomes unhealthy";
    case act::recover:
      return "'s workload is healthy again";
  }
  return "?";
}

struct fault_name {
  std::string_view name;
  act what;
};

constexpr fault_name faults[] = {
    {"stall", act::stall},     {"fail", act::fail},     {"crash", act::crash},
    {"freeze", act::freeze},   {"lag", act::lag},       {"sleep", act::sleep},
    {"exit", act::exit},       {"cut", act::cut},       {"remove", act::remove},
    {"restore", act::restore}, {"resign", act::resign}, {"shut_down", act::shut_down},
    {"sicken", act::sicken},   {"queue", act::queue},
};

}  // namespace

std::optional<act> fault_named(std::string_view text) {
  const auto* const it = std::ranges::find(faults, text, &fault_name::name);
  return it == std::ranges::end(faults) ? std::nullopt : std::optional(it->what);
}

std::string world::text(const move& m) const {
  std::array<char, 160> out{};
  const double at = std::chrono::duration<double>(now.time_since_epoch()).count() - 3600;
  const bool is_letter = m.what == act::carry || m.what == act::stall || m.what == act::fail;
  if (is_letter) {
    const letter& l = letters[m.letter];
    std::snprintf(out.data(), out.size(), "%5.1f s  %c  %s %s %llu%s%s", at, 'a' + l.member,
                  name(m.what), name(l.what),
                  static_cast<unsigned long long>(core::number(l.version)),
                  l.lost != core::loss_reason::none ? " lost" : "", l.orphan ? " (orphan)" : "");
  } else {
    std::snprintf(out.data(), out.size(), "%5.1f s  %c  %s", at,
                  m.what == act::pass || m.what == act::restore ? '-' : 'a' + m.member,
                  name(m.what));
  }
  return out.data();
}

}  // namespace tenure::explore
