#include "core/time_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "core/duration_text.hpp"

namespace tenure::core {
namespace {

using namespace std::chrono_literals;

TEST(TimeText, IsRfc3339InUtcWithMilliseconds) {
  EXPECT_EQ(time_text(0).date_and_time(), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(time_text(1'769'860'800'250).date_and_time(), "2026-01-31T12:00:00.250Z");
  EXPECT_EQ(time_text(-1).date_and_time(), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(time_text(1'769'860'800'250).time(), "12:00:00.250Z");
}

TEST(TimeText, HasFourDigitsOfAYearWhateverTheNumber) {
  EXPECT_EQ(time_text(std::numeric_limits<std::int64_t>::max()).date_and_time(),
            "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(time_text(std::numeric_limits<std::int64_t>::min()).date_and_time(),
            "0000-01-01T00:00:00.000Z");
}

TEST(Spoken, HasTheUnitsThatASentenceNeeds) {
  EXPECT_EQ(std::string_view(spoken(0ms)), "0 ms");
  EXPECT_EQ(std::string_view(spoken(-5s)), "0 ms");
  EXPECT_EQ(std::string_view(spoken(695'400us)), "695 ms");
  EXPECT_EQ(std::string_view(spoken(1s)), "1 s");
  EXPECT_EQ(std::string_view(spoken(9'840ms)), "9.8 s");
  EXPECT_EQ(std::string_view(spoken(19'999ms)), "20 s");
  EXPECT_EQ(std::string_view(spoken(59'999ms)), "60 s");
  EXPECT_EQ(std::string_view(spoken(60s)), "1 min");
  EXPECT_EQ(std::string_view(spoken(2h + 59min + 59s)), "2 h 59 min");
  EXPECT_EQ(std::string_view(spoken(75h)), "3 d 3 h");
}

}  // namespace
}  // namespace tenure::core
