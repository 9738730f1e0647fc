#pragma once

#include <sys/types.h>

#include <optional>

#include "core/clock.hpp"

namespace tenure::guard {

/// A child that has changed its state, as waitpid reports it.
struct child_change {
  pid_t pid = 0;
  int status = 0;
};

/// The kernel as the guard sees it: time, signals and children. `guard_kernel` is the real
/// implementation, the simulator (tests/shell) has one in virtual time.
///
/// Nothing here allocates. One thread.
class guard_host {
 public:
  virtual ~guard_host() = default;

  /// CLOCK_BOOTTIME.
  [[nodiscard]] virtual core::time_point now() const = 0;

  /// Wakes the guard at this instant, at once if it has passed; `core::never`: not at all.
  virtual void set_timer(core::time_point when) = 0;

  /// The next signal that has arrived.
  [[nodiscard]] virtual std::optional<int> next_signal() = 0;

  /// True if this process was started at a terminal that is gone by now.
  [[nodiscard]] virtual bool terminal_is_gone() = 0;

  /// The next child that has ended, which is reaped, or was stopped.
  [[nodiscard]] virtual std::optional<child_change> next_child() = 0;
};

}  // namespace tenure::guard
