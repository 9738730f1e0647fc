#pragma once

#include <cstdint>
#include <string>

#include "mix.hpp"
#include "referee.hpp"
#include "trace.hpp"

namespace tenure::sim {

/// How the run of one seed has ended.
struct outcome {
  rule broken = rule::none;
  std::string details;  ///< of the broken rule
  core::duration simulated{};
  std::uint64_t events = 0;
  std::uint64_t fingerprint = 0;  ///< of all events in their order: equal for equal seeds
};

/// Runs the world of `seed` until a rule is broken or its time is over. `tracer` may be null.
/// Thread-safe: runs share nothing.
outcome run_seed(std::uint64_t seed, trace* tracer);

/// The mix of `seed`, for a person.
std::string describe_seed(std::uint64_t seed);

}  // namespace tenure::sim
