#include "support/golden/golden.hpp"

/// `manifest_tests --update` writes the golden file, with what the tests say now.
int main(int argc, char** argv) {
  return tenure::tests::run_golden_tests(argc, argv, TENURE_GOLDEN);
}
