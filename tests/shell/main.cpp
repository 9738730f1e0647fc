#include "scenario.hpp"
#include "support/seeds/seed_program.hpp"

/// shell_sim: runs simulated worlds of agents, guards and store clients, one for each seed.
int main(int argc, char** argv) {
  using tenure::shell::run_seed;
  return tenure::tests::run_seed_program(
      {.name = "shell_sim",
       .replay_command = "./dev sim --shell",
       .usual_seeds = 100'000,
       .first_of_swarm = tenure::shell::first_of_swarm,
       .run = [](std::uint64_t seed) { return run_seed(seed); },
       .replay = [](std::uint64_t seed, std::size_t) { return run_seed(seed, true); }},
      argc, argv);
}
