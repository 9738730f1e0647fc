#pragma once

#include <cstdint>
#include <functional>

#include "base/timer_queue.hpp"
#include "core/clock.hpp"

namespace tenure::base {

/// The work of one thread: tasks to run next, and timers. Code on the loop gets the time and random
/// bits only from the loop: `http::asio_loop` has both from the kernel, the simulator's loop has
/// virtual time and a seed.
class event_loop {
 public:
  using task = std::move_only_function<void()>;

  virtual ~event_loop() = default;
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  /// CLOCK_BOOTTIME. Thread-safe.
  [[nodiscard]] virtual core::time_point now() const = 0;

  /// 64 random bits. Thread-safe.
  [[nodiscard]] virtual std::uint64_t random_bits() = 0;

  /// Calls `what` later on the loop's thread, in the order of the `post` calls. Thread-safe.
  virtual void post(task what) = 0;

 protected:
  event_loop() = default;

  /// The earliest timer may have changed.
  virtual void timers_changed() = 0;

  timer_queue timers_;

 private:
  friend class timer;
};

/// Calls a function once, at an instant. Used on the loop's thread only. It may outlive the loop,
/// which cancels it when destroyed.
class timer {
 public:
  explicit timer(event_loop& on) : loop_(on) {}
  ~timer() { cancel(); }
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  /// Calls `what` at `when` or soon after, but not from within this call; `core::never`: not at
  /// all. Replaces what the timer was set to before. `what` may set or destroy this timer.
  void at(core::time_point when, event_loop::task what);

  /// At `loop.now() + wait`.
  void after(core::duration wait, event_loop::task what);

  /// Does not call what it was set to any more.
  void cancel();

  /// When it calls; `core::never` if it is not set.
  [[nodiscard]] core::time_point when() const { return entry_.when; }

 private:
  event_loop& loop_;
  timer_queue::entry entry_;
};

}  // namespace tenure::base
