#pragma once

#include <sys/types.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/unique_fd.hpp"

namespace tenure::process {

/// What /proc shows of one process.
struct process_stat {
  pid_t pid = 0;
  char state = 0;  ///< 'Z': a zombie, 'X': dead
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  int threads = 0;
  bool of_the_kernel = false;  ///< a kernel thread
  /// On its way out: it shows no environment and no command line any more, and on version 1 the
  /// root as its cgroup, wherever it was. It may still wait for a disk, and holds its files open.
  bool exiting = false;
  std::uint64_t start = 0;  ///< ticks since boot; with `pid`, unique

  /// True if no thread of it can act any more. In a zombie with threads, only the first thread has
  /// ended.
  [[nodiscard]] bool dead() const { return (state == 'Z' && threads <= 1) || state == 'X'; }
};

/// Lists every process, read from /proc without allocating.
class process_scan {
 public:
  /// False if /proc is not mounted, or belongs to another PID namespace.
  [[nodiscard]] bool open();

  /// Lists every thread of one process instead. False if it is gone.
  [[nodiscard]] bool open_threads(pid_t process);

  /// Starts again from the first process.
  void rewind();

  /// The next process; nothing at the end.
  [[nodiscard]] std::optional<process_stat> next();

  /// True if the end was reached and every process on the way could be examined.
  [[nodiscard]] bool complete() const { return ended_ && !failed_; }

  /// This process, independent of `next`; nothing if there is none.
  [[nodiscard]] std::optional<process_stat> look_up(pid_t pid) const;
  /// The same. `error`: the errno of a failed look-up (see `is_gone`); unchanged otherwise.
  [[nodiscard]] std::optional<process_stat> look_up(pid_t pid, int& error) const;

 private:
  [[nodiscard]] bool fill();

  base::unique_fd proc_;
  alignas(8) std::array<char, 4096> buffer_;
  std::size_t used_ = 0;
  std::size_t at_ = 0;
  bool ended_ = false;
  bool failed_ = false;
};

/// A living thread of the process, usually the first. A first thread that has ended no longer shows
/// the process's program and command line, nor its cgroups in version 1.
[[nodiscard]] pid_t living_thread(const process_stat& process);

/// True if a look-up failed with this errno because the process is gone. After any other error it
/// may still exist: descriptors or memory may have run out.
[[nodiscard]] constexpr bool is_gone(int error) {
  return error == ENOENT || error == ESRCH;
}

/// True if /proc belongs to our own PID namespace. Another one shows other ids.
[[nodiscard]] bool proc_is_ours();

}  // namespace tenure::process
