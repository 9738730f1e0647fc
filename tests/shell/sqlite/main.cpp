#include "scenario.hpp"
#include "support/seeds/seed_program.hpp"

/// shell_sqlite: runs simulated worlds of agents that share a lease file, one for each seed.
int main(int argc, char** argv) {
  using tenure::shell::run_sqlite_seed;
  return tenure::tests::run_seed_program(
      {.name = "shell_sqlite",
       .replay_command = "./dev sim --sqlite",
       .usual_seeds = 10'000,
       .first_of_swarm = tenure::shell::first_of_swarm,
       .run = [](std::uint64_t seed) { return run_sqlite_seed(seed); },
       .replay = [](std::uint64_t seed, std::size_t) { return run_sqlite_seed(seed, true); }},
      argc, argv);
}
