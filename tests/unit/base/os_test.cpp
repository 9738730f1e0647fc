#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "base/boot_time.hpp"
#include "base/clock_reading.hpp"
#include "base/error_text.hpp"
#include "base/random.hpp"
#include "base/unique_fd.hpp"
#include "base/wall_time.hpp"

namespace tenure::base {
namespace {

TEST(BootTime, NeverGoesBack) {
  core::time_point last = boot_now();
  for (int i = 0; i < 1000; ++i) {
    const core::time_point next = boot_now();
    ASSERT_GE(next, last);
    last = next;
  }
}

TEST(BootTime, ThisBootHasAnIdentityAndTheClockIsEverybodys) {
  EXPECT_EQ(boot_id().size(), 36U);
  EXPECT_EQ(boot_id(), boot_id());
  EXPECT_FALSE(boot_time_is_shifted());
}

TEST(ClockReading, SleepNeverShrinksAndTheWallClockIsTheWallClock) {
  const core::time_point before = boot_now();
  const clock_reading first = read_clocks();
  const clock_reading second = read_clocks();
  EXPECT_GE(first.boot, before);
  EXPECT_GE(second.boot, first.boot);
  // Even if a reading is late, the time asleep cannot be negative.
  EXPECT_GE(first.asleep, core::duration::zero());
  EXPECT_LT(std::chrono::abs(first.wall - std::chrono::milliseconds(wall_now_ms())),
            std::chrono::minutes(1));
}

TEST(WallTime, IsAfterThisWasWritten) {
  EXPECT_GT(wall_now_ms(), 1'700'000'000'000);
}

TEST(Random, HexIsTwoDigitsAByteAndDiffersEachTime) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string id = random_hex(16);
    EXPECT_EQ(id.size(), 32U);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_TRUE(seen.insert(id).second);
  }
  EXPECT_NE(random_bits(), random_bits());
}

TEST(ErrorText, NamesTheErrorForPeopleAndForSearch) {
  EXPECT_EQ(error_text(ENOENT), "No such file or directory (ENOENT)");
  EXPECT_EQ(error_text(99999), "error 99999");
}

TEST(UniqueFd, ClosesWhatItOwnsOnce) {
  const int raw = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    unique_fd first(raw);
    unique_fd second(std::move(first));
    EXPECT_EQ(second.get(), raw);
  }
  EXPECT_EQ(::fcntl(raw, F_GETFD), -1);
  EXPECT_EQ(errno, EBADF);
  unique_fd kept(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int given_away = kept.release();
  EXPECT_FALSE(kept);
  EXPECT_EQ(::close(given_away), 0);
}

}  // namespace
}  // namespace tenure::base
