#pragma once

#include <cstdint>

#include "support/seeds/seed_runs.hpp"

namespace tenure::shell {

/// Runs the world of this seed; with `trace`, prints what happens in it. Thread-safe: runs share
/// nothing.
tests::seed_outcome run_guard_seed(std::uint64_t seed, bool trace = false);

}  // namespace tenure::shell
