#include "scenario.hpp"

int main(int argc, char** argv) {
  return tenure::shell::run_worlds(tenure::shell::kept_in::etcd, "shell_sim", "./dev sim --shell",
                                   argc, argv);
}
