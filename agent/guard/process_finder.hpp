#pragma once

#include <sys/types.h>

#include <cstddef>

#include "process/survivors.hpp"

namespace tenure::guard {

/// What a look has found.
struct tally {
  std::size_t left = 0;        ///< processes that are not dead
  std::size_t matching = 0;    ///< of these: named by the target when nothing else tied them to it
  std::size_t stuck = 0;       ///< of these: hang in the kernel (state D); SIGKILL waits for them
  std::size_t denied = 0;      ///< of these: may not be signalled by us
  std::size_t unreadable = 0;  ///< others, of which the kernel does not tell whether they belong
  bool complete = false;       ///< false: something could not be looked at, or there was too much

  /// Nothing is left, and everything was looked at.
  [[nodiscard]] bool empty() const { return complete && left == 0; }
};

/// Finds the processes of a workload that somebody else starts. `foreign_processes` is the real
/// one. Nothing here allocates.
class process_finder {
 public:
  virtual ~process_finder() = default;

  /// Looks at every process, again and again until nobody new belongs.
  virtual tally look() = 0;

  /// Sends to every process of it that a look finds.
  virtual tally signal_all(int signo) = 0;

  /// Sends to those that the target names, but not to what such a one has started: a server's
  /// workers have its program, too.
  virtual tally signal_matches(int signo) = 0;

  /// SIGKILL to all of it. Each is stopped as soon as it is seen, and killed when nobody new is
  /// found: what is stopped cannot fork, and is still there to be found as its children's parent.
  /// Call it until nothing is left.
  virtual tally kill_all() = 0;

  /// True if a process that the last look has found may have died; look again then.
  [[nodiscard]] virtual bool has_deaths() const = 0;

  /// The first that the last look has found; 0: nobody.
  [[nodiscard]] virtual pid_t first() const = 0;

  /// Those that the last look has found and that have not ended since.
  [[nodiscard]] virtual process::survivors living() const = 0;
};

}  // namespace tenure::guard
