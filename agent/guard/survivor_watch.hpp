#pragma once

#include <optional>

#include "core/clock.hpp"

namespace tenure::guard {

/// Decides when to look at processes that SIGKILL has not ended, and when to report them: once per
/// end of a workload to each agent, or once to the log without an agent.
class survivor_watch {
 public:
  /// Call it once per turn. `killing`: SIGKILL was sent, and processes are left. True if they
  /// should be reported now.
  [[nodiscard]] bool is_due(core::time_point now, bool killing);

  /// The survivors were reported.
  void told() { tell_at_ = core::never; }

  /// The agent is gone, or a new one has connected.
  void tell_again(core::time_point now) {
    if (tell_at_ == core::never) tell_at_ = now;
  }

  /// True if a kill may read every process of the machine.
  [[nodiscard]] bool may_look_deep(core::time_point now);

 private:
  /// Nothing until SIGKILL is sent, `never` once reported.
  std::optional<core::time_point> tell_at_;
  core::time_point look_deep_at_{};  ///< no deep look before this
};

}  // namespace tenure::guard
