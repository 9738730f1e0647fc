#include "shell/guard/scenario.hpp"
#include "support/seeds/seed_program.hpp"

/// shell_guard: runs simulated worlds of a guard and its agents, one for each seed.
int main(int argc, char** argv) {
  using tenure::shell::run_guard_seed;
  return tenure::tests::run_seed_program(
      {.name = "shell_guard",
       .replay_command = "./dev sim --guard",
       .run = [](std::uint64_t seed) { return run_guard_seed(seed); },
       .replay = [](std::uint64_t seed, std::size_t) { return run_guard_seed(seed, true); }},
      argc, argv);
}
