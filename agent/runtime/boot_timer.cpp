#include "runtime/boot_timer.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>

#include "core/check.hpp"

namespace tenure::runtime {

using boost::asio::posix::stream_descriptor;

struct boot_timer::state : std::enable_shared_from_this<boot_timer::state> {
  state(const boost::asio::any_io_executor& where, std::function<void()> call)
      : timer(where, ::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC)),
        fired(std::move(call)) {}

  void wait() {
    timer.async_wait(stream_descriptor::wait_read, [self = shared_from_this()](
                                                       const boost::system::error_code& error) {
      if (error || !self->fired) return;
      std::uint64_t expirations = 0;
      // EAGAIN: it was set anew since it fired.
      if (::read(self->timer.native_handle(), &expirations, sizeof expirations) > 0) {
        self->set_to = core::never;
        self->fired();
      }
      if (self->fired) self->wait();
    });
  }

  stream_descriptor timer;
  std::function<void()> fired;
  core::time_point set_to = core::never;
};

boot_timer::boot_timer(const boost::asio::any_io_executor& where, std::function<void()> fired)
    : state_(std::make_shared<state>(where, std::move(fired))) {
  state_->wait();
}

boot_timer::~boot_timer() {
  state_->fired = nullptr;
  boost::system::error_code ignored;
  state_->timer.close(ignored);
}

void boot_timer::set(core::time_point when) {
  if (when == state_->set_to) return;
  state_->set_to = when;
  itimerspec spec{};
  if (when != core::never) {
    // All zero would switch the timer off instead of firing it.
    const std::int64_t ns = std::max<std::int64_t>(when.time_since_epoch().count(), 1);
    spec.it_value.tv_sec = ns / 1'000'000'000;
    spec.it_value.tv_nsec = ns % 1'000'000'000;
  }
  TENURE_CHECK(
      ::timerfd_settime(state_->timer.native_handle(), TFD_TIMER_ABSTIME, &spec, nullptr) == 0);
}

}  // namespace tenure::runtime
