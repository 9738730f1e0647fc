#include "process/process_set.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace tenure::process {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(ProcessSet, FindsEveryProcessUntilItIsFullAndTakesNoMore) {
  constexpr std::size_t capacity = 64;
  process_set set;
  set.prepare(capacity);
  EXPECT_EQ(set.find(1), nullptr);
  // Ids that all map to the same place in the index.
  for (std::size_t i = 0; i < capacity; ++i) {
    const auto pid = static_cast<pid_t>(1 + 2 * capacity * i);
    ASSERT_NE(set.put({.pid = pid, .start = i}), nullptr);
  }
  for (std::size_t i = 0; i < capacity; ++i) {
    const member* const found = set.find(static_cast<pid_t>(1 + 2 * capacity * i));
    ASSERT_NE(found, nullptr) << i;
    EXPECT_EQ(found->start, i);
  }
  EXPECT_EQ(set.find(2), nullptr);
  EXPECT_EQ(set.put({.pid = 2}), nullptr);
  EXPECT_NE(set.put({.pid = 1, .start = 7}), nullptr) << "one with the same number has room";
  EXPECT_EQ(set.find(1)->start, 7U);
  EXPECT_EQ(set.all().size(), capacity);
}

TEST(ProcessSet, ClosesThePidfdOfWhatItForgets) {
  process_set set;
  set.prepare(4);
  const int replaced = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int forgotten = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  set.put({.pid = 3, .fd = base::unique_fd(replaced)});
  set.put({.pid = 3, .fd = base::unique_fd(forgotten)});
  EXPECT_FALSE(is_open(replaced));
  EXPECT_TRUE(is_open(forgotten));
  set.clear();
  EXPECT_FALSE(is_open(forgotten));
  EXPECT_EQ(set.find(3), nullptr);
  EXPECT_TRUE(set.all().empty());
}

}  // namespace
}  // namespace tenure::process
