#pragma once

#include "stage.hpp"

namespace tenure::shell {

/// A program that runs simulated worlds of agents, guards and store clients over one store, one for
/// each seed (seed_program.hpp). Returns what it is to exit with.
int run_worlds(kept_in store, const char* name, const char* replay_command, int argc, char** argv);

}  // namespace tenure::shell
