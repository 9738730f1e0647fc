#pragma once

#include <cstdint>

#include "support/seeds/seed_runs.hpp"

namespace tenure::shell {

/// From this seed on a world is of the swarm (swarm.hpp). Those below have all kinds of faults, in
/// the course on which the seeds of the mutants rely.
constexpr std::uint64_t first_of_swarm = std::uint64_t{1} << 32;

/// Runs the world of this seed; with `trace`, prints what goes wrong in it, as it happens.
/// Thread-safe: runs share nothing.
tests::seed_outcome run_seed(std::uint64_t seed, bool trace = false);

/// The same over servers of Consul.
tests::seed_outcome run_consul_seed(std::uint64_t seed, bool trace = false);

/// The same over API servers of Kubernetes.
tests::seed_outcome run_kubernetes_seed(std::uint64_t seed, bool trace = false);

/// The same over a lease file that all pods share, on one machine.
tests::seed_outcome run_sqlite_seed(std::uint64_t seed, bool trace = false);

}  // namespace tenure::shell
