#include "os/boot_time.hpp"

#include <cstdint>
#include <ctime>
#include <fstream>

namespace tenure::os {

core::time_point boot_now() {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return core::time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

bool boot_time_is_shifted() {
  std::ifstream file("/proc/self/timens_offsets");
  std::string clock;
  for (std::int64_t seconds = 0, nanoseconds = 0; file >> clock >> seconds >> nanoseconds;) {
    if (clock == "boottime" && (seconds != 0 || nanoseconds != 0)) return true;
  }
  return false;
}

}  // namespace tenure::os
