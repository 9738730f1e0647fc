#include "scenario.hpp"

int main(int argc, char** argv) {
  return tenure::shell::run_worlds(tenure::shell::kept_in::consul, "shell_consul",
                                   "./dev sim --consul", argc, argv);
}
