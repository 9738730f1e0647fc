#pragma once

#include <optional>
#include <span>

#include "core/clock.hpp"
#include "os/unique_fd.hpp"

struct pollfd;

namespace tenure::workload {

/// What wakes the guard: signals, as data, and one timer on CLOCK_BOOTTIME.
class guard_wakes {
 public:
  /// Blocks every signal for good and takes over those that the guard acts upon. False if the
  /// kernel refuses.
  [[nodiscard]] bool open();

  /// Wakes `wait` at this instant, at once if it has passed; `core::never`: not at all.
  void set_timer(core::time_point when);

  /// Waits for a signal, the timer, or one of `others`; if not `blocks`, only looks.
  void wait(std::span<const pollfd> others, bool blocks);

  /// The next signal that has arrived.
  [[nodiscard]] std::optional<int> next_signal();

 private:
  os::unique_fd signals_;
  os::unique_fd timer_;
};

/// True for what tells a process to end: SIGTERM, SIGINT, SIGQUIT.
[[nodiscard]] bool asks_to_end(int signo);

}  // namespace tenure::workload
