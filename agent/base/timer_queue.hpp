#pragma once

#include <cstdint>
#include <functional>
#include <set>

#include "core/clock.hpp"

namespace tenure::base {

/// Functions to call, each at an instant. Entries for the same instant are called in the order in
/// which they were put in. Not thread-safe.
class timer_queue {
 public:
  timer_queue() = default;
  /// Drops all entries without calling them.
  ~timer_queue();
  timer_queue(const timer_queue&) = delete;
  timer_queue& operator=(const timer_queue&) = delete;

  /// Owned by the caller of `put`; must not move while it is in the queue.
  struct entry {
    core::time_point when = core::never;  ///< `never`: in no queue
    std::uint64_t number = 0;             ///< counts all `put` calls
    std::move_only_function<void()> what{};
  };

  /// Precondition: `one` is in no queue, and `when` is not `core::never`.
  void put(entry& one, core::time_point when, std::move_only_function<void()> what);

  /// Does nothing if it is not in the queue.
  void take_out(entry& one);

  /// When the earliest entry is due; `core::never` if there is none.
  [[nodiscard]] core::time_point next() const {
    return by_time_.empty() ? core::never : (*by_time_.begin())->when;
  }

  /// Calls all entries that are due at `now`, except those put in meanwhile.
  void call_due(core::time_point now);

  /// Calls the earliest entry, due or not. Precondition: there is one.
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
