#include "cli/text/times.hpp"

#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

TEST(Times, AgentsTimesAreReadAndOthersAreNot) {
  EXPECT_EQ(unix_ms_of("1970-01-01T00:00:01.250Z"), 1250);
  EXPECT_EQ(unix_ms_of("2026-01-31T12:00:00.000Z"), 1'769'860'800'000);
  for (const char* wrong : {"", "2026-01-31", "2026-02-30T12:00:00.000Z", "12:00", "x"}) {
    EXPECT_FALSE(unix_ms_of(wrong)) << wrong;
  }
}

TEST(Times, AMomentIsShownWithoutWhatIsBelowASecond) {
  EXPECT_EQ(moment("2026-01-31T12:00:00.250Z"), "2026-01-31 12:00:00Z");
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
