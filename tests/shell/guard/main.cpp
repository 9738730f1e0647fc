#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <optional>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "core/number_text.hpp"
#include "shell/guard/scenario.hpp"

/// shell_guard: runs simulated worlds of a guard and its agents, one for each seed.
namespace {

using namespace tenure::shell;

constexpr const char* usage =
    "usage: shell_guard [--seeds N] [--from S|random] [--jobs J]   run N seeds (default 1000, from "
    "1)\n"
    "       shell_guard --seed S                               replay one, and show its faults\n"
    "       shell_guard --seeds N --expect RULE                exit 0 if this rule is broken "
    "first\n"
    "       shell_guard --seeds N --twice                      exit 0 if both runs are the same\n"
    "exit status: 0 well, 1 a rule was broken, 2 wrong usage\n";

struct options {
  std::uint64_t seeds = 1000;
  std::uint64_t from = 1;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  std::optional<std::uint64_t> replay;
  std::string_view expect;
  bool twice = false;
};

struct summary {
  std::optional<std::uint64_t> failed;  ///< the smallest
  guard_outcome how;
  std::uint64_t events = 0;
  std::uint64_t starts = 0;
  std::uint64_t fingerprint = 0;
  double seconds = 0;
};

summary run_all(const options& asked) {
  summary out;
  std::mutex guard;
  std::atomic<std::uint64_t> next = asked.from;
  std::vector<std::jthread> workers;
  for (unsigned j = 0; j < asked.jobs; ++j) {
    workers.emplace_back([&] {
      while (true) {
        const std::uint64_t seed = next++;
        if (seed >= asked.from + asked.seeds) return;
        const guard_outcome one = run_guard_seed(seed);
        const std::lock_guard lock(guard);
        out.events += one.events;
        out.starts += one.starts;
        out.seconds += one.seconds;
        out.fingerprint += one.fingerprint * (seed | 1U);
        if (one.broken == guard_rule::none || (out.failed && *out.failed < seed)) continue;
        out.failed = seed;
        out.how = one;
        next = asked.from + asked.seeds;
      }
    });
  }
  workers.clear();
  return out;
}

template <class Number>
bool parse(std::string_view text, Number& out) {
  const auto read = tenure::core::read_number<Number>(text);
  out = read.value_or(out);
  return read.has_value();
}

std::optional<options> parse(int argc, char** argv) {
  options out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--twice") {
      out.twice = true;
      continue;
    }
    const std::string_view value = ++i < argc ? argv[i] : "";
    std::uint64_t seed = 0;
    bool good = false;
    if (flag == "--seeds") good = parse(value, out.seeds);
    if (flag == "--jobs") good = parse(value, out.jobs) && out.jobs > 0;
    if (flag == "--from") good = value == "random" || parse(value, out.from);
    if (flag == "--from" && value == "random") out.from = std::random_device()();
    if (flag == "--expect") good = !(out.expect = value).empty();
    if (flag == "--seed") good = parse(value, seed), out.replay = seed;
    if (!good) return std::nullopt;
  }
  return out;
}

int replay(std::uint64_t seed) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  const guard_outcome o = run_guard_seed(seed, true);
  std::printf("%llu events, %llu starts, %.0f s\n", static_cast<unsigned long long>(o.events),
              static_cast<unsigned long long>(o.starts), o.seconds);
  if (o.broken == guard_rule::none) return 0;
  std::printf("BROKEN %s\n", o.details.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto asked = parse(argc, argv);
  if (!asked) {
    std::fputs(usage, stderr);
    return 2;
  }
  if (asked->replay) return replay(*asked->replay);
  const summary all = run_all(*asked);
  if (all.failed) {
    std::printf("seed %llu: %s\nreplay: shell_guard --seed %llu\n",
                static_cast<unsigned long long>(*all.failed), all.how.details.c_str(),
                static_cast<unsigned long long>(*all.failed));
  }
  if (!asked->expect.empty()) {
    if (all.failed && asked->expect == name(all.how.broken)) return 0;
    std::printf("expected: %.*s\n", static_cast<int>(asked->expect.size()), asked->expect.data());
    return 1;
  }
  if (all.failed) return 1;
  if (asked->twice && run_all(*asked).fingerprint != all.fingerprint) {
    std::puts("two runs of the same seeds differ");
    return 1;
  }
  std::printf("no rule was broken in %llu seeds from %llu: %llu events, %llu starts, %.0f hours\n",
              static_cast<unsigned long long>(asked->seeds),
              static_cast<unsigned long long>(asked->from),
              static_cast<unsigned long long>(all.events),
              static_cast<unsigned long long>(all.starts), all.seconds / 3600);
  return 0;
}
