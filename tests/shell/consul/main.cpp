#include "scenario.hpp"
#include "support/seeds/seed_program.hpp"

/// shell_consul: runs simulated worlds of agents that keep leases in Consul, one for each seed.
int main(int argc, char** argv) {
  using tenure::shell::run_consul_seed;
  return tenure::tests::run_seed_program(
      {.name = "shell_consul",
       .replay_command = "./dev sim --consul",
       .usual_seeds = 10'000,
       .first_of_swarm = tenure::shell::first_of_swarm,
       .run = [](std::uint64_t seed) { return run_consul_seed(seed); },
       .replay = [](std::uint64_t seed, std::size_t) { return run_consul_seed(seed, true); }},
      argc, argv);
}
