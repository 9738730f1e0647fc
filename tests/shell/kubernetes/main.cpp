#include "scenario.hpp"

int main(int argc, char** argv) {
  return tenure::shell::run_worlds(tenure::shell::kept_in::kubernetes, "shell_kubernetes",
                                   "./dev sim --kubernetes", argc, argv);
}
