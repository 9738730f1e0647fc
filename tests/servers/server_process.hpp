#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"

/// Real servers for tests: own processes on loopback, own directories, nothing outlives the test.
namespace tenure::servers {

/// No healthy server needs this long; a test that waits for it has failed.
inline constexpr std::chrono::seconds patience{30};

/// A TCP port of 127.0.0.1 that nobody listens on, from below those that the kernel hands out, so
/// that no outgoing connection takes it meanwhile. No other test draws it as long as this process
/// lives, also while nobody listens on it.
std::uint16_t free_port();

/// One child process. It dies with the thread that made this object: make it in the main one.
class server_process {
 public:
  /// Runs `words`, output appended to `log`.
  server_process(const std::vector<std::string>& words, const std::filesystem::path& log);

  /// SIGKILL, also to one that is frozen.
  ~server_process();
  server_process(const server_process&) = delete;
  server_process& operator=(const server_process&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// False once it has ended by itself; waits for that up to `at_most`.
  [[nodiscard]] bool runs(std::chrono::milliseconds at_most = std::chrono::milliseconds(0)) const;

  /// SIGTERM, and its end; SIGKILL when patience ends.
  void stop();

  /// SIGSTOP; returns when the process has stopped.
  void freeze();

  /// SIGCONT
  void thaw();

 private:
  pid_t pid_ = -1;
  base::unique_fd pidfd_;
};

}  // namespace tenure::servers
