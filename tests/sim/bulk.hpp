#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "world.hpp"

namespace tenure::sim {

/// Which seeds to run, and on how many threads.
struct bulk_request {
  std::uint64_t from = 1;
  std::uint64_t seeds = 1;
  unsigned jobs = 1;
  /// Called every ten seconds with the seeds that are done, and the seconds; may be empty.
  std::function<void(std::uint64_t, double)> progress{};
};

/// What many seeds have come to.
struct bulk_result {
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
  rule broken = rule::none;
  std::string details;
};

/// Runs seeds until all are done, one breaks a rule, or SIGINT or SIGTERM asks for the end, which
/// it catches from then on.
bulk_result run_bulk(const bulk_request& asked);

}  // namespace tenure::sim
