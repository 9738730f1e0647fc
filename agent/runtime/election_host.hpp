#pragma once

#include <vector>

#include "core/lease_group.hpp"
#include "core/member_order.hpp"

namespace tenure::runtime {

/// What the agent around the driver does for the elections.
///
/// Every call comes on the driver's loop.
class election_host {
 public:
  virtual ~election_host() = default;

  /// Must not feed the driver.
  virtual void phase_changed(core::election_index which, const core::command::transition& what) = 0;
  /// The watch has shown these orders, and the election has heard of all else that it has shown.
  virtual void orders_shown(core::election_index which,
                            const std::vector<core::left_order>& what) = 0;
  /// This election is over: nothing is held, and nothing runs. Must not feed the driver.
  virtual void finished(core::election_index which, core::loss_reason why) = 0;
};

}  // namespace tenure::runtime
