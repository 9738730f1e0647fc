#include "base/process_usage.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "base/unique_fd.hpp"
#include "base/wall_time.hpp"

namespace tenure::base {
namespace {

TEST(ProcessUsage, CountsDescriptorsAndThreads) {
  const auto before = read_process_usage();
  ASSERT_TRUE(before);
  const unique_fd one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto after = read_process_usage();
  ASSERT_TRUE(after);
  EXPECT_EQ(after->open_fds, before->open_fds + 1);
  EXPECT_GT(after->max_fds, after->open_fds);
  EXPECT_GE(after->threads, 1U);
}

TEST(ProcessUsage, WasStartedBeforeNow) {
  const auto used = read_process_usage();
  ASSERT_TRUE(used);
  const double now = static_cast<double>(wall_now_ms()) / 1000;
  EXPECT_LE(used->start_unix_seconds, now + 1) << "both are rounded to a second or less";
  EXPECT_GT(used->start_unix_seconds, now - 3600);
  EXPECT_GT(used->resident_bytes, 1024U * 1024);
  EXPECT_GE(used->virtual_bytes, used->resident_bytes);
}

}  // namespace
}  // namespace tenure::base
