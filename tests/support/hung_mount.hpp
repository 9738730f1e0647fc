#pragma once

#include <fcntl.h>
#include <sys/mount.h>

#include <string>

#include "base/unique_fd.hpp"

namespace tenure::tests {

/// A file system of which nobody answers any question, over a directory: whoever looks for a file
/// in it hangs, until this is gone. It ends with this process, too.
class hung_mount {
 public:
  explicit hung_mount(const std::string& directory)
      : directory_(directory), server_(::open("/dev/fuse", O_RDWR | O_CLOEXEC)) {
    const std::string how =
        "fd=" + std::to_string(server_.get()) + ",rootmode=40000,user_id=0,group_id=0";
    is_there_ = server_ && ::mount("hung", directory.c_str(), "fuse", 0, how.c_str()) == 0;
  }
  ~hung_mount() {
    server_.reset();
    if (is_there_) ::umount2(directory_.c_str(), MNT_DETACH);
  }
  hung_mount(const hung_mount&) = delete;
  hung_mount& operator=(const hung_mount&) = delete;

  /// False: not root, or the kernel has no FUSE.
  [[nodiscard]] bool is_there() const { return is_there_; }

 private:
  std::string directory_;
  base::unique_fd server_;
  bool is_there_ = false;
};

}  // namespace tenure::tests
