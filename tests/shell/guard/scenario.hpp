#pragma once

#include <cstdint>
#include <string>

#include "shell/guard/judge.hpp"

namespace tenure::shell {

/// What became of one seed.
struct guard_outcome {
  guard_rule broken = guard_rule::none;
  std::string details;
  std::uint64_t events = 0;
  std::uint64_t starts = 0;       ///< of workloads
  std::uint64_t fingerprint = 0;  ///< the same for the same course of the world
  double seconds = 0;             ///< of virtual time
};

/// Runs the world of this seed; with `trace`, prints what happens in it.
guard_outcome run_guard_seed(std::uint64_t seed, bool trace = false);

}  // namespace tenure::shell
