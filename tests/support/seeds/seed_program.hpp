#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/seeds/seed_runs.hpp"

namespace tenure::tests {

/// A simulator as a program: what it calls itself, and how it runs a seed.
struct seed_program {
  const char* name;                  ///< in its usage
  const char* replay_command;        ///< without the seed: "./dev sim"
  std::uint64_t usual_seeds = 1000;  ///< if nobody says how many
  /// Called by several threads at a time.
  std::function<seed_outcome(std::uint64_t seed)> run;
  /// Runs it and prints what a person needs to understand it, the last `lines` events among it.
  std::function<seed_outcome(std::uint64_t seed, std::size_t lines)> replay;
  /// What is drawn for a seed's world before it begins, in words that `--where` takes. Called by
  /// several threads at a time. Empty: there is nothing to choose from.
  std::function<std::vector<std::string>(std::uint64_t seed)> traits{};
};

/// Reads the command line, does what it asks, and says what came of it. Returns the status to exit
/// with: 0 well, 1 a rule was broken, 2 wrong usage, 130 interrupted.
int run_seed_program(const seed_program& what, int argc, char** argv);

}  // namespace tenure::tests
