#pragma once

#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::tests {

/// Expects that this is, word for word, the next text that the golden file of this program has for
/// the test that runs. So a change of wording is one run with `--update`, and a diff to read.
void expect_golden(std::string_view text,
                   std::source_location where = std::source_location::current());

/// The same of sentences, one in each line.
void expect_golden(const std::vector<std::string>& sentences,
                   std::source_location where = std::source_location::current());

/// Runs all tests as the command line asks, with the golden texts of `file`. With `--update` the
/// file gets what the tests say instead; texts of tests that do not run then stay. Returns the
/// status to exit with.
int run_golden_tests(int argc, char** argv, const std::string& file);

}  // namespace tenure::tests
