#include "base/memory.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace tenure::base {
namespace {

/// Pages of files, including the program itself, that this process has in memory.
long file_pages() {
  std::ifstream statm("/proc/self/statm");
  long size = 0;
  long resident = 0;
  long shared = 0;
  statm >> size >> resident >> shared;
  return shared;
}

TEST(Memory, CodeIsForgottenAndComesBackWhenItIsNeeded) {
  const long before = file_pages();
  forget_code_pages();
  const long after = file_pages();
  EXPECT_LT(after, before);
}

}  // namespace
}  // namespace tenure::base
