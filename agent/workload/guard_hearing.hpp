#pragma once

#include <cstdint>
#include <functional>

#include "base/event_loop.hpp"
#include "guard/guard_page.hpp"

namespace tenure::workload {

/// The guard has this long to acknowledge a deadline, and to answer the first message. A guard that
/// gets any processor at all takes milliseconds.
inline constexpr core::duration guard_hangs_after = std::chrono::seconds(1);
/// Once more, for a machine that stood still: agent and guard come back at the same time.
inline constexpr core::duration second_look_after = std::chrono::milliseconds(100);

/// Whether the guard still hears: each deadline that is written into the page has to be
/// acknowledged there. Used on its loop only.
class guard_hearing {
 public:
  /// `hears`: false when the guard hangs, true when it acknowledges again after that.
  guard_hearing(base::event_loop& on, const guard::guard_page& page,
                std::function<void(bool hears)> tell)
      : page_(page), tell_(std::move(tell)), timer_(on) {}

  /// A deadline was written.
  void await();

  /// The guard is gone.
  void stop() { timer_.cancel(); }

 private:
  void look_in(core::duration wait, std::int64_t asked);
  void look(core::duration waited, std::int64_t asked);

  const guard::guard_page& page_;
  std::function<void(bool hears)> tell_;
  base::timer timer_;
  bool hangs_ = false;  ///< and that was told
};

}  // namespace tenure::workload
