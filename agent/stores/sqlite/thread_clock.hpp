#pragma once

#include "core/clock.hpp"

namespace tenure::stores::sqlite {

/// How a call that blocks learns what time it is, and how it waits. Thread-safe.
class thread_clock {
 public:
  virtual ~thread_clock() = default;
  thread_clock(const thread_clock&) = delete;
  thread_clock& operator=(const thread_clock&) = delete;

  /// CLOCK_BOOTTIME.
  [[nodiscard]] virtual core::time_point now() const = 0;

  /// Blocks the calling thread for about this long.
  virtual void pause(core::duration how_long) const = 0;

 protected:
  thread_clock() = default;
};

/// The kernel's. Lives as long as the process.
const thread_clock& kernel_clock();

}  // namespace tenure::stores::sqlite
