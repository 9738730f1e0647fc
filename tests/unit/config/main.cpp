#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string_view>

#include "unit/config/reference.hpp"

/// `config_tests --update-reference` writes docs/configuration.md instead of running tests.
int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--update-reference") {
    std::ofstream out(TENURE_REFERENCE);
    out << tenure::config::reference_markdown() << std::flush;
    std::printf("%s %s\n", out ? "wrote" : "could not write", TENURE_REFERENCE);
    return out ? 0 : 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
