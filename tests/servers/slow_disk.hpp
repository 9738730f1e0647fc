#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>

#include "servers/server_process.hpp"

namespace tenure::servers {

/// A disk on which one process waits for each fdatasync: strace holds that system call back. What
/// is on its way goes on when this object is gone.
class slow_disk {
 public:
  /// Returns once every thread of `process` is traced; fails the test if that cannot be.
  slow_disk(pid_t process, std::chrono::seconds each, const std::filesystem::path& log);

  /// Waits until a thread of the process is held back; false if patience ends first.
  [[nodiscard]] bool holds() const;

 private:
  pid_t process_;
  server_process strace_;
};

}  // namespace tenure::servers
