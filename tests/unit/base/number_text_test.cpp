#include "base/number_text.hpp"

#include <gtest/gtest.h>

namespace tenure::base {
namespace {

TEST(NumberText, IsANumberOnlyIfAllOfItIs) {
  EXPECT_EQ(read_number<std::uint64_t>("18446744073709551615"), 18446744073709551615U);
  for (const char* text : {"", " 1", "1 ", "+1", "-1", "1x", "0x1", "18446744073709551616"}) {
    EXPECT_EQ(read_number<std::uint64_t>(text), std::nullopt) << text;
  }
}

TEST(NumberText, TakesASignOnlyWhereTheTypeHasOne) {
  EXPECT_EQ(read_number<int>("-1"), -1);
  EXPECT_EQ(read_number<unsigned>("-1"), std::nullopt);
}

TEST(NumberText, WritesIdsAsOtherToolsDo) {
  EXPECT_EQ(hex(0xcdf818194e3a8c32), "cdf818194e3a8c32");
  EXPECT_EQ(hex(0), "0");
}

}  // namespace
}  // namespace tenure::base
