#include <cstdio>
#include <fstream>
#include <string_view>

#include "support/golden/golden.hpp"
#include "unit/config/reference.hpp"

/// `config_tests --update-reference` writes docs/configuration.md instead of running tests;
/// `config_tests --update` writes the golden file, with what the tests say now.
int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--update-reference") {
    std::ofstream out(TENURE_REFERENCE);
    out << tenure::config::reference_markdown() << std::flush;
    std::printf("%s %s\n", out ? "wrote" : "could not write", TENURE_REFERENCE);
    return out ? 0 : 1;
  }
  return tenure::tests::run_golden_tests(argc, argv, TENURE_GOLDEN);
}
