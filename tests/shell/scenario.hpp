#pragma once

#include <cstdint>
#include <string>

#include "judge.hpp"

namespace tenure::shell {

/// What became of one seed.
struct outcome {
  rule broken = rule::none;
  std::string details;
  std::uint64_t events = 0;
  std::uint64_t terms = 0;        ///< workloads that were started
  std::uint64_t fingerprint = 0;  ///< the same for the same course of the world
  double seconds = 0;             ///< of virtual time
};

/// Runs the world of this seed; with `trace`, prints what goes wrong in it, as it happens.
outcome run_seed(std::uint64_t seed, bool trace = false);

}  // namespace tenure::shell
