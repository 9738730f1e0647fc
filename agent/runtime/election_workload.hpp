#pragma once

#include "core/lease_group.hpp"

namespace tenure::runtime {

/// What the driver does to the workload of its elections.
///
/// All calls are made on the driver's loop.
class election_workload {
 public:
  virtual ~election_workload() = default;

  /// The store has granted this term. The elections get it after this call.
  virtual void granted(core::version version) = 0;
  /// The elections' view of the lease may have changed. Comes before the commands of the same step.
  virtual void show(const core::lease_group& what) = 0;
  virtual void arm(const core::command::arm& what) = 0;
  virtual void start(core::election_index which, const core::election_view& view) = 0;
  virtual void stop(const core::command::stop_workload& what) = 0;
  virtual void forget_grants(const core::command::forget_grants& what) = 0;
  /// The store renewed the leases, and the elections know it. May end the driver.
  virtual void renewed() = 0;
};

}  // namespace tenure::runtime
