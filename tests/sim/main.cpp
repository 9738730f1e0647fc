#include <cstdio>
#include <string>
#include <utility>

#include "support/seeds/seed_program.hpp"
#include "world.hpp"

/// sim: runs simulated worlds, one for each seed, and says which rule broke in which.
namespace {

using namespace tenure::sim;
using tenure::tests::seed_outcome;

seed_outcome neutral(outcome what) {
  return {.broken = what.broken == rule::none ? "" : name(what.broken),
          .details = std::move(what.details),
          .simulated = what.simulated,
          .events = what.events,
          .fingerprint = what.fingerprint};
}

seed_outcome replay(std::uint64_t seed, std::size_t lines) {
  std::printf("%s", describe_seed(seed).c_str());
  trace tracer(lines);
  outcome out = run_seed(seed, &tracer);
  for (const std::string& line : tracer.last()) std::printf("%s\n", line.c_str());
  return neutral(std::move(out));
}

}  // namespace

int main(int argc, char** argv) {
  return tenure::tests::run_seed_program(
      {.name = "sim",
       .replay_command = "./dev sim",
       .usual_seeds = 100'000,
       .run = [](std::uint64_t seed) { return neutral(run_seed(seed, nullptr)); },
       .replay = replay},
      argc, argv);
}
