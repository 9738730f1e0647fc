#pragma once

#include <optional>
#include <string>

#include "core/lease_group.hpp"
#include "runtime/clock_watch.hpp"
#include "runtime/store_outage.hpp"

namespace tenure::runtime {

/// What the driver reports of its elections, for the log, the counters and the API.
///
/// All calls are made on the driver's loop and may read `election_driver::elections()`.
class election_listener {
 public:
  virtual ~election_listener() = default;

  /// The store has answered this request, or the request has failed.
  virtual void store_answered(store_request what) = 0;
  virtual void store_failed(store_request what, const std::string& why) = 0;

  /// The watch shows this. The election gets it after this call.
  virtual void watch_shows(core::election_index which, const core::observation& what) = 0;
  /// The driver opens the watch again.
  virtual void watch_broke(core::election_index which, const std::string& why) = 0;

  /// A renewal was acknowledged, this long before the first workload would have been stopped;
  /// nothing if none of its terms is held any more. The elections get it after this call.
  virtual void renewed(std::optional<core::duration> margin) = 0;

  /// The reason why this election does not campaign has changed from `before`.
  virtual void held_back(core::election_index which, const core::held_back& before) = 0;
  /// Something in the view of this election has changed.
  virtual void view_changed(core::election_index which) = 0;
  /// The phase has changed. `stop`: how its workload is stopped in the same step; null: not at all.
  virtual void phase_changed(core::election_index which, const core::command::transition& what,
                             const core::command::stop_workload* stop) = 0;
  /// The store is asked to release the term. `release_failed`: as far as is known, it did not.
  virtual void releasing(core::election_index which) = 0;
  virtual void release_failed(core::election_index which) = 0;

  /// The machine has slept, this process had no processor, or the wall clock was set.
  virtual void clocks_jumped(const clock_news& what) = 0;

  /// A workload is about to be started or asked to stop, by a phase that was told. It may ask at
  /// once what is shown, and so may who sees it run.
  virtual void workload_is_next() = 0;
  /// All commands of a step are carried out.
  virtual void step_ended() = 0;
  /// The loop turns. Called at least every few seconds.
  virtual void turned(core::time_point now) = 0;
};

}  // namespace tenure::runtime
