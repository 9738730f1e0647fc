#pragma once

#include "core/lease_group.hpp"

namespace tenure::runtime {

/// What the driver has done to the workload of its elections.
///
/// Every call comes on the driver's loop; none feeds the driver from inside.
class election_workload {
 public:
  virtual ~election_workload() = default;

  /// The store has granted this term. The elections hear of it after this call.
  virtual void granted(core::version version) = 0;
  /// What the elections say of the lease may be new. Comes before the commands of the same step.
  virtual void show(const core::lease_group& what) = 0;
  virtual void arm(const core::command::arm& what) = 0;
  virtual void start(core::election_index which, const core::election_view& view) = 0;
  virtual void stop(const core::command::stop_workload& what) = 0;
  virtual void forget_grants(const core::command::forget_grants& what) = 0;
  /// The elections have heard that the store renewed their leases. May end the driver.
  virtual void renewed() = 0;
};

}  // namespace tenure::runtime
