#pragma once

#include <optional>

#include "core/clock.hpp"

namespace tenure::guard {

/// When to look at what SIGKILL has not ended, and when to say so: once for each end of a workload
/// to each agent, and once where there is none.
class survivor_watch {
 public:
  /// Once a turn; `killing`: SIGKILL was sent, and something is left. True if what is left is to be
  /// told now.
  [[nodiscard]] bool is_due(core::time_point now, bool killing);

  /// It was told.
  void told() { tell_at_ = core::never; }

  /// Who was told is dead, or has just come.
  void tell_again(core::time_point now) {
    if (tell_at_ == core::never) tell_at_ = now;
  }

  /// True if a kill may look at every process there is.
  [[nodiscard]] bool may_look_deep(core::time_point now);

 private:
  /// Nothing until SIGKILL is sent, `never` once it was told.
  std::optional<core::time_point> tell_at_;
  core::time_point look_deep_at_{};  ///< for what is below a survivor; not before
};

}  // namespace tenure::guard
