#include "scenario.hpp"

int main(int argc, char** argv) {
  return tenure::shell::run_worlds(tenure::shell::kept_in::sqlite, "shell_sqlite",
                                   "./dev sim --sqlite", argc, argv);
}
