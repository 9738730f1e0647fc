#pragma once

#include <memory>
#include <vector>

#include "health/health_monitor.hpp"
#include "metrics/instruments.hpp"
#include "runtime/election_driver.hpp"
#include "runtime/reporter.hpp"
#include "runtime/surroundings.hpp"
#include "runtime/workload_mode.hpp"
#include "settings/agent.hpp"

namespace tenure::runtime {

/// Reports the workload's health to the elections, if it is checked.
///
/// On the election thread only.
class workload_health {
 public:
  struct parts {
    surroundings& machine;
    const settings::agent& settings;
    const std::vector<settings::election>& elections;
    log::logger& to;
    election_driver& driver;
    const workload_mode& workload;
    reporter& reports;
    snapshots& shown;
    metrics::instruments& instruments;
  };
  explicit workload_health(const parts& with);
  workload_health(const workload_health&) = delete;
  workload_health& operator=(const workload_health&) = delete;

  /// Starts the checks. `workload_found`: a workload of an earlier agent runs. False if the
  /// workload must be found healthy first: then the elections begin with an unhealthy one.
  [[nodiscard]] bool begin(bool workload_found);

  /// True if the workload is checked even while no election is active.
  [[nodiscard]] bool always() const { return monitor_ && monitor_->always(); }

  /// The workload of an active term runs.
  void workload_started();
  /// One that was found running vouches for this member no longer.
  void workload_ended();
  void phase_changed(core::election_index which, const core::command::transition& what);

 private:
  void changed();
  void show();
  [[nodiscard]] bool is_fit() const;

  parts with_;
  std::unique_ptr<health::health_monitor> monitor_;  ///< null: no health checks
  bool workload_found_ = false;
  bool fit_ = true;  ///< as last reported to the elections
};

}  // namespace tenure::runtime
