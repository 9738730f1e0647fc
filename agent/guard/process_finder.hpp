#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "process/survivors.hpp"

namespace tenure::guard {

/// The result of a look.
struct tally {
  std::size_t left = 0;      ///< processes that are not dead
  std::size_t matching = 0;  ///< how many of these the target itself names
  std::size_t stuck =
      0;  ///< how many of these hang in the kernel (state D); SIGKILL waits for them
  std::size_t denied = 0;      ///< how many of these we may not signal
  std::size_t unreadable = 0;  ///< others that may or may not belong: the kernel does not tell
  // What `signal_matches` alone counts:
  std::size_t told = 0;       ///< how many it has signalled
  std::size_t undecided = 0;  ///< how many may be named, or their parents; see `if_undecided`
  bool complete = false;      ///< false: a process could not be examined, or there were too many

  /// True if no process is left and every process was examined.
  [[nodiscard]] bool empty() const { return complete && left == 0; }
};

/// The command line of a process in state D is not read: that could hang. One that starts another
/// by vfork is in that state for a moment, in which its child has the same command line. So what
/// does `signal_matches` do if it has found nobody else, or a child of such a process?
enum class if_undecided : std::uint8_t {
  wait,       ///< it signals nobody; try again
  leave_out,  ///< it signals those that it can decide about, and no child of another
};

/// Finds the processes of a workload that others start. `foreign_processes` is the real
/// implementation. Nothing here allocates.
class process_finder {
 public:
  virtual ~process_finder() = default;

  /// Examines every process, repeatedly until no new one belongs.
  virtual tally look() = 0;

  /// Signals every process of the workload that a look finds.
  virtual tally signal_all(int signo) = 0;

  /// Signals the processes that the target names, but not those started by such a process: a
  /// server's workers execute the same program.
  virtual tally signal_matches(int signo, if_undecided then) = 0;

  /// SIGKILL to every process of the workload. Each is stopped as soon as it is seen, and killed
  /// when no new one is found: a stopped process cannot fork, and can still be found as its
  /// children's parent. Call it until nothing is left.
  virtual tally kill_all() = 0;

  /// True if a process that the last look found may have died; look again then.
  [[nodiscard]] virtual bool has_deaths() const = 0;

  /// The first process that the last look found; 0: none.
  [[nodiscard]] virtual pid_t first() const = 0;

  /// The processes that the last look found and that have not ended since.
  [[nodiscard]] virtual process::survivors living() const = 0;
};

}  // namespace tenure::guard
