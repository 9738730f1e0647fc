#pragma once

#include <cstdint>
#include <functional>

#include "base/event_loop.hpp"
#include "guard/guard_page.hpp"

namespace tenure::workload {

/// The guard has this long to acknowledge a deadline and to answer the first message. A guard that
/// gets any processor time needs milliseconds.
inline constexpr core::duration guard_hangs_after = std::chrono::seconds(1);
/// A second chance after the machine stood still: agent and guard continue at the same time.
inline constexpr core::duration second_look_after = std::chrono::milliseconds(100);

/// Watches whether the guard still reacts: it has to acknowledge each deadline in the page. Use it
/// on its loop only.
class guard_hearing {
 public:
  /// `tell`: called with false when the guard hangs, with true when it acknowledges again.
  guard_hearing(base::event_loop& on, const guard::guard_page& page,
                std::function<void(bool hears)> tell)
      : page_(page), tell_(std::move(tell)), timer_(on) {}

  /// A deadline was written.
  void await();

  /// The guard is gone.
  void stop() { timer_.cancel(); }

 private:
  void look_in(core::duration wait);
  void look(core::duration waited);

  const guard::guard_page& page_;
  std::function<void(bool hears)> tell_;
  base::timer timer_;
  std::int64_t asked_ = 0;  ///< what is to be acknowledged; see guard_page
  std::int64_t heard_before_ = 0;
  bool hangs_ = false;  ///< and `tell` was called with false
};

}  // namespace tenure::workload
