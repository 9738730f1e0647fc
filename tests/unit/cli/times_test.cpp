#include "cli/text/times.hpp"

#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

TEST(Times, AMomentIsShownWithoutWhatIsBelowASecond) {
  EXPECT_EQ(moment(1'769'860'800'250), "2026-01-31 12:00:00Z");
}

TEST(Times, ASpanHasTwoUnitsAtMost) {
  EXPECT_EQ(span(-5), "0ms");
  EXPECT_EQ(span(999), "999ms");
  EXPECT_EQ(span(59'999), "59s");
  EXPECT_EQ(span(185'000), "3m05s");
  EXPECT_EQ(span(7'800'000), "2h10m");
  EXPECT_EQ(span(356'400'000), "4d03h");
}

TEST(Times, OfWhatIsLeftATenthCounts) {
  EXPECT_EQ(remainder(11'290), "11.2s");
  EXPECT_EQ(remainder(0), "0.0s");
  EXPECT_EQ(remainder(61'000), "1m01s");
}

}  // namespace
}  // namespace tenure::cli
