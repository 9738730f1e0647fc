#include "base/mount_point.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <sstream>

#include "support/temporary_directory.hpp"

namespace tenure::base {
namespace {

unique_fd opened(const std::string& path) {
  return unique_fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
}

TEST(MountPoint, ItIsTheMountAndNothingThatLiesInIt) {
  EXPECT_TRUE(is_mount_point(opened("/proc"), "/proc"));
  EXPECT_FALSE(is_mount_point(opened("/proc/self/status"), "/proc/self/status"));
  const tests::temporary_directory in;
  EXPECT_FALSE(is_mount_point(opened(in.path()), in.path()));
}

TEST(MountPoint, OldKernelsListItWithBlanksAsNumbers) {
  const auto lists = [](const std::string& path) {
    std::istringstream mounts(
        "22 28 0:20 / /proc rw,nosuid - proc proc rw\n"
        "41 28 8:1 /srv/l.db /data/my\\040l\\134x.db rw,relatime shared:1 - ext4 /dev/sda1 rw\n");
    return lists_mount_point(mounts, path);
  };
  EXPECT_TRUE(lists("/proc"));
  EXPECT_TRUE(lists("/data/my l\\x.db"));
  EXPECT_FALSE(lists("/data/my")) << "the beginning of one";
  EXPECT_FALSE(lists("/srv/l.db")) << "what is mounted, not where";
  EXPECT_FALSE(lists("/proc/self"));
}

}  // namespace
}  // namespace tenure::base
