#pragma once

#include <cstddef>
#include <deque>
#include <functional>

#include "base/event_loop.hpp"
#include "core/clock.hpp"

namespace tenure::stores {

/// Lets some of many campaigns be under way at a time; the others wait in the order in which they
/// came, until half of their time is over: the other half is for the store.
///
/// Used on its loop only. Nothing is called after `close`.
class turnstile {
 public:
  using entry = std::move_only_function<void()>;

  explicit turnstile(base::event_loop& on) : loop_(on), first_begin_by_(on) {}

  /// Calls `begin` now or later; or, if its turn does not come in time, `too_late`.
  void enter(core::time_point deadline, entry begin, entry too_late);

  /// A campaign that had begun is over: lets the next one begin.
  void leave();

  [[nodiscard]] std::size_t under_way() const { return under_way_; }

  void close();

 private:
  struct waiting {
    core::time_point begin_by{};
    entry begin;
    entry too_late;
  };

  void begin_next();
  void expire();

  base::event_loop& loop_;
  std::size_t under_way_ = 0;
  std::deque<waiting> waiting_;
  base::timer first_begin_by_;
};

}  // namespace tenure::stores
