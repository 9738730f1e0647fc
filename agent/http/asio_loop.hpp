#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "base/event_loop.hpp"

namespace tenure::http {

/// An event loop on Asio, with the kernel's clock and randomness.
///
/// Its timers count CLOCK_BOOTTIME. Asio's own count CLOCK_MONOTONIC, which stands still while the
/// machine sleeps: a lease would look valid for as long as the lid is closed. The context keeps
/// running while a timer is set.
///
/// Single-threaded, except where `event_loop` says otherwise. The context must outlive it.
class asio_loop final : public base::event_loop {
 public:
  explicit asio_loop(const boost::asio::any_io_executor& where);
  ~asio_loop() override;

  [[nodiscard]] core::time_point now() const override;
  [[nodiscard]] std::uint64_t random_bits() override;
  void post(task what) override;

  /// For code that uses Asio.
  [[nodiscard]] const boost::asio::any_io_executor& executor() const { return where_; }

 private:
  void timers_changed() override;

  struct alarm;
  boost::asio::any_io_executor where_;
  std::shared_ptr<alarm> alarm_;
};

}  // namespace tenure::http
