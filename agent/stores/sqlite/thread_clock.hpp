#pragma once

#include "core/clock.hpp"

namespace tenure::stores::sqlite {

/// How a blocking call reads the time and waits. Thread-safe.
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

/// The kernel's clock. Lives as long as the process.
const thread_clock& kernel_clock();

}  // namespace tenure::stores::sqlite
