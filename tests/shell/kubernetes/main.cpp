#include "scenario.hpp"
#include "support/seeds/seed_program.hpp"

/// shell_kubernetes: runs simulated worlds of agents that keep leases in Kubernetes, one for each
/// seed.
int main(int argc, char** argv) {
  using tenure::shell::run_kubernetes_seed;
  return tenure::tests::run_seed_program(
      {.name = "shell_kubernetes",
       .replay_command = "./dev sim --kubernetes",
       .usual_seeds = 10'000,
       .first_of_swarm = tenure::shell::first_of_swarm,
       .run = [](std::uint64_t seed) { return run_kubernetes_seed(seed); },
       .replay = [](std::uint64_t seed, std::size_t) { return run_kubernetes_seed(seed, true); }},
      argc, argv);
}
