#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>

#include "core/clock.hpp"

namespace tenure::runtime {

/// Calls a function at an instant of CLOCK_BOOTTIME.
///
/// Asio's own timers count CLOCK_MONOTONIC, which stands still while the machine sleeps: a lease
/// would look valid for as long as the lid was closed. Not thread-safe; used on one executor.
class boot_timer {
 public:
  /// `fired` is called on `where`; it may be called early or more than once for one instant, and
  /// is not called any more once this is destroyed.
  boot_timer(const boost::asio::any_io_executor& where, std::function<void()> fired);
  ~boot_timer();
  boot_timer(const boot_timer&) = delete;
  boot_timer& operator=(const boot_timer&) = delete;

  /// Replaces the instant. One in the past fires at once; `core::never` not at all.
  void set(core::time_point when);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace tenure::runtime
