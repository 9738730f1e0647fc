#include "support/seeds/seed_program.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <ranges>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/seeds/number_argument.hpp"
#include "support/seeds/probes.hpp"

namespace tenure::tests {
namespace {

constexpr std::size_t trace_lines = 60;

/// Each TENURE_SOMETIMES is reached by one of so many seeds, or the run fails.
constexpr std::uint64_t seeds_that_reach_all = 2000;

constexpr int exit_broken = 1;
constexpr int exit_usage = 2;
constexpr int exit_interrupted = 130;

struct options {
  seed_request bulk{.jobs = std::max(1U, std::thread::hardware_concurrency())};
  std::optional<std::uint64_t> replay;
  bool counts = false;  ///< a number of seeds was given
  std::size_t lines = trace_lines;
  std::string_view expect;  ///< rules, or "any"; empty: none is to be broken
  std::string_view where;   ///< traits of the worlds that are run; empty: all are
  bool counts_broken = false;
  bool twice = false;
  bool probes = false;  ///< say how often each was reached
  bool help = false;
};

void print_usage(const seed_program& what, std::FILE* to) {
  std::fprintf(
      to,
      "usage: %s [--seeds N] [--from S|random] [--where TRAIT,...] [--jobs J]\n"
      "                                  run N seeds (default %llu, from 1), of those whose "
      "worlds\n"
      "                                  have all these traits\n"
      "       ... --seed S [--lines L]   replay one, with its last L lines\n"
      "       ... --expect RULE,...|any  exit 0 as soon as one of these is broken\n"
      "       ... --count                run all; say how many break which rule, and where\n"
      "       ... --twice                exit 0 if both runs are the same\n"
      "       ... --probes               say how often each TENURE_SOMETIMES was reached, too\n"
      "       ... --help\n"
      "exit status: 0 well, 1 a rule was broken, 2 wrong usage, 130 interrupted\n",
      what.name, static_cast<unsigned long long>(what.usual_seeds));
}

/// A number, or "random": seeds that nobody has tried are drawn when the program runs, by the draw
/// of the whole suite if there is one (DEV_DRAW, ./dev test).
bool read_beginning(const seed_program& what, std::string_view text, std::uint64_t& out) {
  if (text != "random") return read_argument(text, out);
  const char* const suite = std::getenv("DEV_DRAW");
  const std::string draw = suite == nullptr ? std::to_string(std::random_device()()) : suite;
  const std::string both = draw + " " + what.name;
  std::seed_seq from_both(both.begin(), both.end());
  std::array<std::uint32_t, 1> drawn{};
  from_both.generate(drawn.begin(), drawn.end());
  out = drawn.front();
  return true;
}

std::optional<options> parse(const seed_program& what, int argc, char** argv) {
  options out;
  out.bulk.seeds = what.usual_seeds;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--help" || flag == "-h") {
      out.help = true;
      continue;
    }
    if (flag == "--count") {
      out.counts_broken = true;
      continue;
    }
    if (flag == "--twice") {
      out.twice = true;
      continue;
    }
    if (flag == "--probes") {
      out.probes = true;
      continue;
    }
    const std::string_view value = ++i < argc ? argv[i] : "";
    bool good = false;
    if (flag == "--seeds") good = out.counts = read_argument(value, out.bulk.seeds);
    if (flag == "--from") good = read_beginning(what, value, out.bulk.from);
    if (flag == "--jobs") good = read_argument(value, out.bulk.jobs) && out.bulk.jobs > 0;
    if (flag == "--lines") good = read_argument(value, out.lines);
    if (flag == "--expect") good = !(out.expect = value).empty();
    if (flag == "--where") good = what.traits && !(out.where = value).empty();
    if (flag == "--seed") good = read_argument(value, out.replay.emplace());
    if (!good) {
      std::fprintf(stderr, "%s: cannot make sense of %.*s %.*s\n", what.name,
                   static_cast<int>(flag.size()), flag.data(), static_cast<int>(value.size()),
                   value.data());
      print_usage(what, stderr);
      return std::nullopt;
    }
  }
  if (out.replay && out.counts) {
    std::fprintf(stderr, "%s: --seed replays one seed; to begin at it, use --from\n", what.name);
    return std::nullopt;
  }
  return out;
}

int replay(const seed_program& what, std::uint64_t seed, std::size_t lines) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  const seed_outcome one = what.replay(seed, lines);
  if (one.broken.empty()) {
    std::printf("no rule was broken in %llu events\n", static_cast<unsigned long long>(one.events));
    return 0;
  }
  std::printf("BROKEN %s\n", one.details.c_str());
  return exit_broken;
}

/// A whole number, or the first two digits of a small one: a few seeds take a part of an hour.
std::string figure(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), number < 9.95 ? "%.2g" : "%.0f", number);
  return text.data();
}

void print_summary(const seed_results& r) {
  std::printf("%llu seeds, %s simulated hours, %llu events in %.1f s; %s hours/s of one core\n",
              static_cast<unsigned long long>(r.seeds), figure(r.simulated_hours).c_str(),
              static_cast<unsigned long long>(r.events), r.wall_seconds,
              figure(r.simulated_hours / r.busy_seconds).c_str());
}

bool is_among(std::string_view list, const std::string& word) {
  return std::ranges::any_of(std::views::split(list, ','),
                             [&](auto one) { return std::string_view(one) == word; });
}

/// How often worlds with each trait are among these, and among all: that may be what it takes.
void print_traits(const seed_program& what, const std::vector<std::uint64_t>& seeds) {
  constexpr std::uint64_t sample = 1000;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> found;
  for (const std::uint64_t seed : seeds) {
    for (const std::string& trait : what.traits(seed)) ++found[trait].first;
  }
  for (std::uint64_t seed = 1; seed <= sample; ++seed) {
    for (const std::string& trait : what.traits(seed)) ++found[trait].second;
  }
  std::vector<std::pair<double, std::string>> most;
  for (const auto& [trait, how_often] : found) {
    const auto [here, all] = how_often;
    const double share = static_cast<double>(here) / static_cast<double>(seeds.size());
    most.emplace_back(
        share / std::max(1e-3, static_cast<double>(all) / sample),
        std::to_string(here) + " have " + trait + ", as " + std::to_string(all) + " of 1,000");
  }
  std::ranges::sort(most, std::greater());
  constexpr std::ptrdiff_t shown = 8;
  for (const auto& [times, text] : most | std::views::take(shown)) {
    std::printf("    %5.1f times as often: %s\n", times, text.c_str());
  }
}

void print_counts(const seed_program& what, const seed_results& r) {
  for (const auto& [rule, seeds] : r.others) {
    std::printf("%zu of %llu seeds broke %s\n", seeds.size(),
                static_cast<unsigned long long>(r.seeds), rule.c_str());
    if (what.traits) print_traits(what, seeds);
  }
}

/// Which seeds are run, and what ends that.
seed_request request_of(const seed_program& what, const options& asked) {
  seed_request out = asked.bulk;
  if (!asked.where.empty()) {
    out.takes = [&what, where = asked.where](std::uint64_t seed) {
      const std::vector<std::string> has = what.traits(seed);
      return std::ranges::all_of(std::views::split(where, ','), [&](auto one) {
        return std::ranges::find(has, std::string_view(one)) != has.end();
      });
    };
  }
  if (asked.counts_broken) {
    out.ends_at = [](const std::string&) { return false; };
  } else if (!asked.expect.empty() && asked.expect != "any") {
    out.ends_at = [expected = asked.expect](const std::string& rule) {
      return is_among(expected, rule);
    };
  }
  return out;
}

int run_many(const seed_program& what, const options& asked) {
  const seed_request request = request_of(what, asked);
  const seed_results r = run_seeds(request, what.run, what.replay_command);
  print_summary(r);
  print_counts(what, r);
  if (asked.probes) {
    for (const probe_count& one : probe_counts()) {
      std::printf("%10llu %.*s\n", static_cast<unsigned long long>(one.reached),
                  static_cast<int>(one.name.size()), one.name.data());
    }
  }
  if (r.interrupted) {
    std::printf("interrupted: no rule was broken in %llu of %llu seeds\n",
                static_cast<unsigned long long>(r.seeds),
                static_cast<unsigned long long>(asked.bulk.seeds));
    return exit_interrupted;
  }
  if (r.failed) {
    std::printf("seed %llu: %s\nreplay: %s --seed %llu\n",
                static_cast<unsigned long long>(*r.failed), r.details.c_str(), what.replay_command,
                static_cast<unsigned long long>(*r.failed));
  }
  if (!asked.expect.empty() && !r.failed) {
    std::printf("%.*s was to be broken, and was not\n", static_cast<int>(asked.expect.size()),
                asked.expect.data());
    return exit_broken;
  }
  if (!asked.expect.empty()) return 0;
  if (r.failed || !r.others.empty()) return exit_broken;
  if (r.seeds < asked.bulk.seeds) {
    std::printf("no world has all of %.*s\n", static_cast<int>(asked.where.size()),
                asked.where.data());
    return exit_usage;
  }
  if (asked.twice &&
      run_seeds(request, what.run, what.replay_command).fingerprint != r.fingerprint) {
    std::printf("two runs of the same seeds differ\n");
    return exit_broken;
  }
  std::printf("no rule was broken in %llu seeds from %llu\n",
              static_cast<unsigned long long>(r.seeds),
              static_cast<unsigned long long>(asked.bulk.from));
  if (r.seeds < seeds_that_reach_all || !asked.where.empty()) return 0;
  const std::vector<std::string> faults = probe_faults(what.name);
  for (const std::string& one : faults) std::printf("%s\n", one.c_str());
  return faults.empty() ? 0 : exit_broken;
}

}  // namespace

int run_seed_program(const seed_program& what, int argc, char** argv) {
  const std::optional<options> asked = parse(what, argc, argv);
  if (!asked) return exit_usage;
  if (asked->help) {
    print_usage(what, stdout);
    return 0;
  }
  if (asked->replay) return replay(what, *asked->replay, asked->lines);
  return run_many(what, *asked);
}

}  // namespace tenure::tests
