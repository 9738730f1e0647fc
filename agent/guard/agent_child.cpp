#include "guard/agent_child.hpp"

#include <algorithm>

#include "guard/guard_rules.hpp"

namespace tenure::guard {

const char* agent_child::start(core::time_point now) {
  const auto pid = launcher_.launch();
  if (!pid) {
    crashed(now);
    return pid.error();
  }
  pid_ = *pid;
  started_at_ = now;
  due_ = core::never;
  return nullptr;
}

void agent_child::crashed(core::time_point now) {
  const bool was_well = now - started_at_ >= agent_was_well;
  pause_ = pause_ == core::duration::zero() || was_well ? first_agent_pause
                                                        : std::min(2 * pause_, most_agent_pause);
  due_ = now + pause_;
}

}  // namespace tenure::guard
