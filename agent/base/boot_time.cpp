#include "base/boot_time.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <cstdint>
#include <ctime>
#include <fstream>

#include "base/mount_point.hpp"
#include "base/unique_fd.hpp"

namespace tenure::base {
namespace {

constexpr const char* boot_id_path = "/proc/sys/kernel/random/boot_id";

}  // namespace

core::time_point boot_now() {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return core::time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
}

std::string boot_id() {
  std::ifstream file(boot_id_path);
  std::string id;
  std::getline(file, id);
  return id;
}

bool boot_id_is_replaced() {
  const unique_fd file(::open(boot_id_path, O_PATH | O_CLOEXEC));
  struct statfs in{};
  if (!file || ::fstatfs(file.get(), &in) != 0) return false;
  if (in.f_type != PROC_SUPER_MAGIC) return true;
  return is_mount_point(file, boot_id_path);
}

bool boot_time_is_shifted() {
  std::ifstream file("/proc/self/timens_offsets");
  std::string clock;
  for (std::int64_t seconds = 0, nanoseconds = 0; file >> clock >> seconds >> nanoseconds;) {
    if (clock == "boottime" && (seconds != 0 || nanoseconds != 0)) return true;
  }
  return false;
}

}  // namespace tenure::base
