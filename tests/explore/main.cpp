#include <algorithm>
#include <cstdio>
#include <optional>
#include <ranges>
#include <string_view>
#include <thread>

#include "search.hpp"
#include "support/seeds/number_argument.hpp"

/// explore: goes through every state of two members, one election, a lossy store and two guards
/// within bounds, and says which rule broke, and how.
namespace {

using namespace tenure::explore;
using tenure::tests::read_argument;

constexpr const char* usage =
    "usage: explore [--ticks T] [--faults F] [--of KIND,KIND...] [--states N] [--jobs J]\n"
    "         all orders of what may happen in T ticks of 200 ms (default 200; the TTL is 1 s)\n"
    "         with at most F faults (default 1) of these kinds (default: all): stall, fail,\n"
    "         crash, freeze, lag, sleep, exit, cut, remove, restore, resign, shut_down, sicken.\n"
    "         --states: stop after so many\n"
    "       explore ... --expect-violation    exit 0 if a rule is broken\n"
    "exit status: 0 well, 1 a rule was broken, 2 wrong usage\n";

constexpr int exit_usage = 2;

struct options {
  bounds within{.jobs = std::max(1U, std::thread::hardware_concurrency())};
  bool expect_violation = false;
  bool help = false;
};

bool parse_kinds(std::string_view text, std::uint32_t& out) {
  out = 0;
  for (const auto part : std::views::split(text, ',')) {
    const auto kind = fault_named(std::string_view(part));
    if (!kind) return false;
    out |= bit(*kind);
  }
  return true;
}

std::optional<options> parse(int argc, char** argv) {
  options out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    bool good = false;
    bool takes_value = true;
    if (flag == "--help" || flag == "-h") {
      out.help = good = true;
      takes_value = false;
    } else if (flag == "--expect-violation") {
      out.expect_violation = good = true;
      takes_value = false;
    } else if (flag == "--ticks") {
      good = read_argument(value, out.within.ticks);
    } else if (flag == "--faults") {
      good = read_argument(value, out.within.faults);
    } else if (flag == "--of") {
      good = parse_kinds(value, out.within.kinds);
    } else if (flag == "--states") {
      good = read_argument(value, out.within.states);
    } else if (flag == "--jobs") {
      good = read_argument(value, out.within.jobs) && out.within.jobs > 0;
    }
    if (!good) {
      std::fprintf(stderr, "explore: cannot make sense of %s %s\n%s", argv[i], value, usage);
      return std::nullopt;
    }
    if (takes_value) ++i;
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<options> asked = parse(argc, argv);
  if (!asked) return exit_usage;
  if (asked->help) {
    std::printf("%s", usage);
    return 0;
  }
  const findings f = search(asked->within);
  std::printf("%llu states, %llu moves, up to %u moves deep, in %.1f s\n",
              static_cast<unsigned long long>(f.states), static_cast<unsigned long long>(f.moves),
              f.depth, f.seconds);
  if (f.broken != rule::none) {
    for (const std::string& line : f.trace) std::printf("%s\n", line.c_str());
    std::printf("BROKEN %s after %zu moves\n", tenure::sim::name(f.broken), f.trace.size());
    return asked->expect_violation ? 0 : 1;
  }
  std::printf("no rule was broken; %s within %d ticks and %d faults\n",
              f.complete ? "these are all states" : "there are more states", asked->within.ticks,
              asked->within.faults);
  return asked->expect_violation ? 1 : 0;
}
