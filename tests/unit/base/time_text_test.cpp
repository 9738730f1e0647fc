#include "base/time_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "base/duration_text.hpp"

namespace tenure::base {
namespace {

using namespace std::chrono_literals;

TEST(TimeText, IsRfc3339InUtcWithMilliseconds) {
  EXPECT_EQ(time_text(0).date_and_time(), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(time_text(1'769'860'800'250).date_and_time(), "2026-01-31T12:00:00.250Z");
  EXPECT_EQ(time_text(-1).date_and_time(), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(time_text(1'769'860'800'250).time(), "12:00:00.250Z");
}

TEST(MicroTime, HasSixDecimals) {
  EXPECT_EQ(micro_time(1'769'860'800'250), "2026-01-31T12:00:00.250000Z");
  EXPECT_EQ(micro_time(0), "1970-01-01T00:00:00.000000Z");
}

TEST(TimeText, HasFourDigitsOfAYearWhateverTheNumber) {
  EXPECT_EQ(time_text(std::numeric_limits<std::int64_t>::max()).date_and_time(),
            "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(time_text(std::numeric_limits<std::int64_t>::min()).date_and_time(),
            "0000-01-01T00:00:00.000Z");
}

TEST(TimeText, IsReadAndOtherTextsAreNot) {
  EXPECT_EQ(read_time("1970-01-01T00:00:01.250Z"), 1250);
  EXPECT_EQ(read_time("2026-01-31T12:00:00.000Z"), 1'769'860'800'000);
  EXPECT_EQ(read_time(time_text(-1).date_and_time()), -1);
  for (const char* wrong : {"", "2026-01-31", "2026-02-30T12:00:00.000Z", "12:00", "x"}) {
    EXPECT_FALSE(read_time(wrong)) << wrong;
  }
}

TEST(TimeText, ADateHeaderIsReadAndOtherTextsAreNot) {
  EXPECT_EQ(read_http_date("Thu, 01 Jan 1970 00:00:01 GMT"), 1000);
  EXPECT_EQ(read_http_date("Sat, 31 Jan 2026 12:00:00 GMT"), 1'769'860'800'000);
  EXPECT_EQ(read_http_date("Thu, 31 Dec 2026 23:59:59 GMT"),
            *read_time("2026-12-31T23:59:59.000Z"));
  for (const char* wrong : {"", "Sat, 31 Jan 2026 12:00:00 GMTs", "Sat, 31 Foo 2026 12:00:00 GMT",
                            "Sat, 30 Feb 2026 12:00:00 GMT", "Sat, xx Jan 2026 12:00:00 GMT",
                            "2026-01-31T12:00:00.000Z     "}) {
    EXPECT_FALSE(read_http_date(wrong)) << wrong;
  }
}

TEST(Spoken, HasTheUnitsThatASentenceNeeds) {
  EXPECT_EQ(spoken(0ms).view(), "0 ms");
  EXPECT_EQ(spoken(-5s).view(), "0 ms");
  EXPECT_EQ(spoken(695'400us).view(), "695 ms");
  EXPECT_EQ(spoken(1s).view(), "1 s");
  EXPECT_EQ(spoken(9'840ms).view(), "9.8 s");
  EXPECT_EQ(spoken(19'999ms).view(), "20 s");
  EXPECT_EQ(spoken(59'999ms).view(), "60 s");
  EXPECT_EQ(spoken(60s).view(), "1 min");
  EXPECT_EQ(spoken(2h + 59min + 59s).view(), "2 h 59 min");
  EXPECT_EQ(spoken(75h).view(), "3 d 3 h");
}

}  // namespace
}  // namespace tenure::base
