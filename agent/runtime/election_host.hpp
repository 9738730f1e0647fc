#pragma once

#include <vector>

#include "core/lease_group.hpp"
#include "core/member_order.hpp"

namespace tenure::runtime {

/// What the agent does for the driver's elections.
///
/// All calls are made on the driver's loop.
class election_host {
 public:
  virtual ~election_host() = default;

  virtual void phase_changed(core::election_index which, const core::command::transition& what) = 0;
  /// Something in the view of this election has changed.
  virtual void view_changed(core::election_index which) = 0;
  /// The watch shows this, and the election has taken it in.
  virtual void shown(core::election_index which, const std::vector<core::holder>& holders,
                     const std::vector<core::left_order>& orders) = 0;
  /// The watch has broken: what the store shows is not known until it shows the state again.
  virtual void lost_sight(core::election_index which) = 0;
  /// This election is over: it holds nothing, and nothing runs.
  virtual void finished(core::election_index which, core::loss_reason why) = 0;
};

}  // namespace tenure::runtime
