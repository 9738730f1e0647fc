#include "http/asio_loop.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cstdint>
#include <utility>

#include "base/boot_time.hpp"
#include "base/random.hpp"
#include "core/check.hpp"

namespace tenure::http {

using boost::asio::posix::stream_descriptor;

/// The kernel timer, set for the earliest of our timers.
struct asio_loop::alarm : std::enable_shared_from_this<asio_loop::alarm> {
  alarm(const boost::asio::any_io_executor& where, base::timer_queue& whose)
      : timer(where, ::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC)), of(&whose) {}

  void set(core::time_point when) {
    if (when == set_to) return;
    set_to = when;
    itimerspec spec{};
    if (when != core::never) {
      // All zero would switch the timer off instead of firing it.
      const std::int64_t ns = std::max<std::int64_t>(when.time_since_epoch().count(), 1);
      spec.it_value.tv_sec = ns / 1'000'000'000;
      spec.it_value.tv_nsec = ns % 1'000'000'000;
    }
    TENURE_CHECK(::timerfd_settime(timer.native_handle(), TFD_TIMER_ABSTIME, &spec, nullptr) == 0);
    if (when == core::never) {
      boost::system::error_code ignored;
      timer.cancel(ignored);
    } else if (!waits) {
      wait();
    }
  }

  void wait() {
    waits = true;
    timer.async_wait(stream_descriptor::wait_read,
                     [self = shared_from_this()](const boost::system::error_code&) {
                       self->waits = false;
                       if (self->of != nullptr) self->rung();
                     });
  }

  /// Called when the timer fires or is canceled; it may have been set again since.
  void rung() {
    std::uint64_t expirations = 0;
    // EAGAIN: it was set again since it fired.
    if (::read(timer.native_handle(), &expirations, sizeof expirations) > 0) set_to = core::never;
    of->call_due(base::boot_now());
    if (of == nullptr) return;
    set(of->next());
    if (set_to != core::never && !waits) wait();
  }

  stream_descriptor timer;
  base::timer_queue* of;
  core::time_point set_to = core::never;
  bool waits = false;
};

asio_loop::asio_loop(const boost::asio::any_io_executor& where)
    : where_(where), alarm_(std::make_shared<alarm>(where, timers_)) {}

asio_loop::~asio_loop() {
  alarm_->of = nullptr;
  boost::system::error_code ignored;
  alarm_->timer.close(ignored);
}

core::time_point asio_loop::now() const {
  return base::boot_now();
}

std::uint64_t asio_loop::random_bits() {
  return base::random_bits();
}

void asio_loop::post(task what) {
  boost::asio::post(where_, std::move(what));
}

void asio_loop::timers_changed() {
  alarm_->set(timers_.next());
}

}  // namespace tenure::http
