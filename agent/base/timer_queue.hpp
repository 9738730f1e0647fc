#pragma once

#include <cstdint>
#include <functional>
#include <set>

#include "core/clock.hpp"

namespace tenure::base {

/// What is to be called at which instant. Those of one instant are called in the order in which
/// they were put in. Not thread-safe.
class timer_queue {
 public:
  timer_queue() = default;
  /// Forgets what is in it, without a call.
  ~timer_queue();
  timer_queue(const timer_queue&) = delete;
  timer_queue& operator=(const timer_queue&) = delete;

  /// Owned by whoever puts it in, and not moved while it is in.
  struct entry {
    core::time_point when = core::never;  ///< `never`: it is in no queue
    std::uint64_t number = 0;             ///< of all that were ever put in
    std::move_only_function<void()> what{};
  };

  /// Precondition: `one` is in no queue, and `when` is not `core::never`.
  void put(entry& one, core::time_point when, std::move_only_function<void()> what);

  /// Without effect on one that is not in.
  void take_out(entry& one);

  /// When the earliest is due; `core::never` if there is none.
  [[nodiscard]] core::time_point next() const {
    return by_time_.empty() ? core::never : (*by_time_.begin())->when;
  }

  /// Calls all that are due at `now`, but for those that are put in meanwhile.
  void call_due(core::time_point now);

  /// Calls the earliest, due or not. Precondition: there is one.
  void call_first();

 private:
  struct earlier {
    bool operator()(const entry* a, const entry* b) const {
      return a->when != b->when ? a->when < b->when : a->number < b->number;
    }
  };

  std::set<entry*, earlier> by_time_;
  std::uint64_t last_ = 0;
};

}  // namespace tenure::base
