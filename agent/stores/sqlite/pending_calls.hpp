#pragma once

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <unordered_set>
#include <utility>

#include "core/clock.hpp"
#include "os/boot_time.hpp"
#include "stores/store.hpp"

namespace tenure::stores::sqlite {

/// Calls under way. The handler of each is called once: with an answer, or with `unknown` at its
/// deadline, however the disk hangs.
///
/// Used on its executor only. No handler is called after `clear`.
class pending_calls {
 public:
  explicit pending_calls(boost::asio::any_io_executor where) : executor_(std::move(where)) {}

  /// Notes a call. The returned function ends it with the outcome it is given; it does nothing if
  /// the call has ended. It must not be called after this object is gone.
  template <class Outcome>
  std::function<void(Outcome)> add(core::time_point deadline, handler<Outcome> done,
                                   std::function<unknown()> too_late);

  /// Forgets all calls and stops their timers.
  void clear() { calls_.clear(); }

 private:
  /// Timers do not take "never".
  static constexpr core::duration longest = std::chrono::hours(24);

  struct call {
    explicit call(const boost::asio::any_io_executor& where) : late(where) {}
    virtual ~call() = default;
    boost::asio::steady_timer late;
  };
  template <class Outcome>
  struct call_of : call {
    using call::call;
    handler<Outcome> done;
  };

  boost::asio::any_io_executor executor_;
  std::unordered_set<std::shared_ptr<call>> calls_;
};

template <class Outcome>
std::function<void(Outcome)> pending_calls::add(core::time_point deadline, handler<Outcome> done,
                                                std::function<unknown()> too_late) {
  auto made = std::make_shared<call_of<Outcome>>(executor_);
  made->done = std::move(done);
  calls_.insert(made);
  auto finish = [this, noted = std::weak_ptr(made)](Outcome outcome) {
    const auto found = noted.lock();
    if (!found) return;
    calls_.erase(found);
    found->late.cancel();
    if (found->done) std::exchange(found->done, nullptr)(std::move(outcome));
  };
  made->late.expires_after(std::clamp(deadline - os::boot_now(), core::duration::zero(), longest));
  made->late.async_wait([finish, too_late = std::move(too_late)](boost::system::error_code error) {
    if (!error) finish(too_late());
  });
  return finish;
}

}  // namespace tenure::stores::sqlite
