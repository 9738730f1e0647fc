#include <algorithm>
#include <cstdio>
#include <optional>
#include <random>
#include <string_view>
#include <thread>

#include "bulk.hpp"
#include "core/number_text.hpp"
#include "world.hpp"

/// sim: runs simulated worlds, one for each seed, and says which rule broke in which.
namespace {

using namespace tenure::sim;

constexpr std::size_t trace_lines = 60;

constexpr const char* usage =
    "usage: sim [--seeds N] [--from S|random] [--jobs J] [--hours]\n"
    "                                                         run N seeds (default 1000, from 1)\n"
    "       sim --seed S [--lines L]                          replay one, with its last L lines\n"
    "       sim --seeds N --expect-violation                  exit 0 if a rule is broken\n"
    "       sim --seeds N --twice                             exit 0 if both runs are the same\n"
    "       sim --help\n"
    "exit status: 0 well, 1 a rule was broken, 2 wrong usage, 130 interrupted\n";

constexpr int exit_usage = 2;
constexpr int exit_interrupted = 130;

struct options {
  bulk_request bulk{
      .from = 1, .seeds = 1000, .jobs = std::max(1U, std::thread::hardware_concurrency())};
  std::optional<std::uint64_t> replay;
  std::size_t lines = trace_lines;
  bool hours = false;
  bool expect_violation = false;
  bool twice = false;
  bool help = false;
};

template <class Number>
bool parse(std::string_view text, Number& out) {
  const auto read = tenure::core::read_number<Number>(text);
  out = read.value_or(out);
  return read.has_value();
}

/// A number, or "random": seeds that nobody has tried are drawn when the program runs.
bool parse_beginning(std::string_view text, std::uint64_t& out) {
  if (text != "random") return parse(text, out);
  out = std::random_device()();
  return true;
}

std::optional<options> parse(int argc, char** argv) {
  options out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (flag == "--help" || flag == "-h") {
      out.help = true;
    } else if (flag == "--hours") {
      out.hours = true;
    } else if (flag == "--expect-violation") {
      out.expect_violation = true;
    } else if (flag == "--twice") {
      out.twice = true;
    } else {
      std::uint64_t seed = 0;
      bool good = false;
      if (flag == "--seeds") good = parse(value, out.bulk.seeds);
      if (flag == "--from") good = parse_beginning(value, out.bulk.from);
      if (flag == "--jobs") good = parse(value, out.bulk.jobs) && out.bulk.jobs > 0;
      if (flag == "--lines") good = parse(value, out.lines);
      if (flag == "--seed") {
        good = parse(value, seed);
        out.replay = seed;
      }
      if (!good) {
        std::fprintf(stderr, "sim: cannot make sense of %s %s\n%s", argv[i], value, usage);
        return std::nullopt;
      }
      ++i;
    }
  }
  return out;
}

int replay(std::uint64_t seed, std::size_t lines) {
  std::printf("seed %llu\n%s", static_cast<unsigned long long>(seed), describe_seed(seed).c_str());
  trace tracer(lines);
  const outcome o = run_seed(seed, &tracer);
  for (const std::string& line : tracer.last()) std::printf("%s\n", line.c_str());
  if (o.broken == rule::none) {
    std::printf("no rule was broken in %llu events\n", static_cast<unsigned long long>(o.events));
    return 0;
  }
  std::printf("BROKEN %s\n", o.details.c_str());
  return 1;
}

void print_summary(const bulk_result& r) {
  std::printf("%llu seeds, %.0f simulated hours, %llu events in %.1f s; %.0f hours/s of one core\n",
              static_cast<unsigned long long>(r.seeds), r.simulated_hours,
              static_cast<unsigned long long>(r.events), r.wall_seconds,
              r.simulated_hours / r.busy_seconds);
}

int run(const options& asked) {
  const bulk_result r = run_bulk(asked.bulk);
  if (asked.hours || r.interrupted) print_summary(r);
  if (r.interrupted) {
    std::printf("interrupted: no rule was broken in %llu of %llu seeds\n",
                static_cast<unsigned long long>(r.seeds),
                static_cast<unsigned long long>(asked.bulk.seeds));
    return exit_interrupted;
  }
  if (r.failed) {
    std::printf("seed %llu: %s\nreplay: ./dev sim --seed %llu\n",
                static_cast<unsigned long long>(*r.failed), r.details.c_str(),
                static_cast<unsigned long long>(*r.failed));
  }
  if (asked.expect_violation) {
    if (!r.failed) {
      std::printf("no rule was broken in %llu seeds: the mutant survives\n",
                  static_cast<unsigned long long>(r.seeds));
    }
    return r.failed ? 0 : 1;
  }
  if (r.failed) return 1;
  if (asked.twice && run_bulk(asked.bulk).fingerprint != r.fingerprint) {
    std::printf("two runs of the same seeds differ\n");
    return 1;
  }
  std::printf("no rule was broken in %llu seeds from %llu\n",
              static_cast<unsigned long long>(r.seeds),
              static_cast<unsigned long long>(asked.bulk.from));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<options> asked = parse(argc, argv);
  if (!asked) return exit_usage;
  if (asked->help) {
    std::printf("%s", usage);
    return 0;
  }
  if (asked->replay) return replay(*asked->replay, asked->lines);
  asked->bulk.progress = [of = asked->bulk.seeds](std::uint64_t done, double seconds) {
    std::fprintf(stderr, "%llu of %llu seeds in %.0f s\n", static_cast<unsigned long long>(done),
                 static_cast<unsigned long long>(of), seconds);
  };
  return run(*asked);
}
