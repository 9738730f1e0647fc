#pragma once

#include <sys/mount.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "scene.hpp"

namespace tenure::tests {

/// A file system of 1 MiB of its own. Only root may make one: ask `why_not`.
class small_disk {
 public:
  small_disk() {
    mounted_ =
        ::mount("tenure-test", mount_point_.path().c_str(), "tmpfs", 0, "size=1m,mode=0700") == 0;
    if (!mounted_) why_not_ = std::string("no tmpfs can be mounted: ") + std::strerror(errno);
  }
  ~small_disk() {
    if (mounted_) ::umount2(mount_point_.path().c_str(), MNT_DETACH);
  }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;

  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return mount_point_ / name; }

  /// Leaves no byte free.
  void fill() {
    std::ofstream file(mount_point_ / "ballast", std::ios::binary | std::ios::app);
    const std::string page(4096, 'x');
    while (file.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) {
    }
  }
  void empty() { std::ofstream(mount_point_ / "ballast", std::ios::trunc).close(); }
  bool make_read_only() {
    return ::mount(nullptr, mount_point_.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY,
                   "size=1m,mode=0700") == 0;
  }

 private:
  temporary_directory mount_point_;
  bool mounted_ = false;
  std::string why_not_;
};

}  // namespace tenure::tests
