#pragma once

#include <functional>
#include <memory>
#include <unordered_set>
#include <utility>

#include "base/event_loop.hpp"
#include "core/clock.hpp"
#include "stores/store.hpp"

namespace tenure::stores::sqlite {

/// Calls under way. The handler of each is called once: with an answer or, even if the disk hangs,
/// with `unknown` at its deadline.
///
/// Used on its loop only. No handler is called after `clear`.
class pending_calls {
 public:
  explicit pending_calls(base::event_loop& on) : loop_(on) {}

  /// Adds a call. The returned function ends it with an outcome, and does nothing if the call has
  /// ended already. It must not be called after the destruction of this object.
  template <class Outcome>
  std::function<void(Outcome)> add(core::time_point deadline, handler<Outcome> done,
                                   std::function<unknown()> too_late);

  /// Forgets all calls and stops their timers.
  void clear() { calls_.clear(); }

 private:
  struct call {
    explicit call(base::event_loop& on) : late(on) {}
    virtual ~call() = default;
    base::timer late;
  };
  template <class Outcome>
  struct call_of : call {
    using call::call;
    handler<Outcome> done;
  };

  base::event_loop& loop_;
  std::unordered_set<std::shared_ptr<call>> calls_;
};

template <class Outcome>
std::function<void(Outcome)> pending_calls::add(core::time_point deadline, handler<Outcome> done,
                                                std::function<unknown()> too_late) {
  auto made = std::make_shared<call_of<Outcome>>(loop_);
  made->done = std::move(done);
  calls_.insert(made);
  auto finish = [this, noted = std::weak_ptr(made)](Outcome outcome) {
    const auto found = noted.lock();
    if (!found) return;
    calls_.erase(found);
    found->late.cancel();
    if (found->done) std::exchange(found->done, nullptr)(std::move(outcome));
  };
  made->late.at(deadline, [finish, too_late = std::move(too_late)] { finish(too_late()); });
  return finish;
}

}  // namespace tenure::stores::sqlite
