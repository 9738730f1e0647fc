#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"

namespace tenure::tests {

/// What became of one seed.
struct seed_outcome {
  std::string broken;   ///< the name of the rule; empty: none was broken
  std::string details;  ///< of the broken rule
  core::duration simulated{};
  std::uint64_t events = 0;
  std::uint64_t fingerprint = 0;  ///< of all events in their order: equal for equal seeds
};

/// Which seeds to run, and on how many threads.
struct seed_request {
  std::uint64_t from = 1;
  std::uint64_t seeds = 1000;
  unsigned jobs = 1;
  /// Seeds that it says no to are passed over, and do not count. Empty: it takes all.
  std::function<bool(std::uint64_t seed)> takes{};
  /// A seed that breaks another rule does not end the run. Empty: any rule ends it.
  std::function<bool(const std::string& rule)> ends_at{};
};

/// What many seeds have come to.
struct seed_results {
  std::uint64_t seeds = 0;
  std::uint64_t events = 0;
  double simulated_hours = 0;
  double wall_seconds = 0;
  double busy_seconds = 0;  ///< summed over the threads
  std::uint64_t fingerprint = 0;
  bool interrupted = false;  ///< SIGINT or SIGTERM came before all were done
  /// The smallest seed that broke a rule; every smaller one of the request was run, unless
  /// `interrupted`.
  std::optional<std::uint64_t> failed;
  std::string broken;
  std::string details;
  /// Those that broke a rule and did not end the run, by that rule.
  std::map<std::string, std::vector<std::uint64_t>> others{};
};

/// Runs seeds until all are done, one breaks a rule, or SIGINT or SIGTERM asks for the end, which
/// it catches from then on. Says on stderr every ten seconds how many are done. If a failed check
/// aborts the process, says first in which seed, and how to replay it. Ends, with fewer seeds, if
/// not one of 100,000 in a row is taken.
///
/// `run` is called by several threads at a time, `takes` by one. `replay` is a command without its
/// seed; it lives as long as the process.
seed_results run_seeds(const seed_request& asked,
                       const std::function<seed_outcome(std::uint64_t seed)>& run,
                       const char* replay);

}  // namespace tenure::tests
