#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "core/health.hpp"
#include "health/health_check.hpp"
#include "log/logger.hpp"
#include "log/speaker.hpp"
#include "settings/agent.hpp"
#include "wire/election.hpp"

namespace tenure::health {

/// Checks the workload's health in rounds and makes a verdict of them. A round passes if all its
/// checks pass.
///
/// Use it on its loop only. `changed` is never called from inside a call, nor after destruction.
class health_monitor {
 public:
  using checks = std::vector<std::unique_ptr<health_check>>;

  /// `who`: whose workload it is, for the log. `changed`: called when `shown` or `fit` may have
  /// changed. `unix_ms`: the wall clock, only to show it. Checks begin with `start`.
  health_monitor(base::event_loop& on, const settings::health& with, bool always, checks what,
                 log::logger& to, const log::speaker& who, std::function<void()> changed,
                 std::function<std::int64_t()> unix_ms);
  ~health_monitor();
  health_monitor(const health_monitor&) = delete;
  health_monitor& operator=(const health_monitor&) = delete;

  void start();
  /// The workload runs. Failures do not count until `health_delay` has passed.
  void workload_started();
  /// The workload is being stopped, or has ended by itself: its health no longer matters.
  void workload_stopping();

  /// True if health is checked even while no workload runs.
  [[nodiscard]] bool always() const { return always_; }
  /// True if this member may hold a lease. If health is always checked, the verdict must be
  /// healthy; else it only must not be unhealthy.
  [[nodiscard]] bool fit() const;
  [[nodiscard]] const wire::health_report& shown() const { return shown_; }

 private:
  void turn();
  void turn_at(core::time_point when) {
    timer_.at(when, [this] { turn(); });
  }
  void begin_round(core::time_point now);
  void cancel_round();
  void came(std::uint64_t round, health_check::verdict what);
  void round_ended();
  void show(const std::string& reason);

  base::event_loop& loop_;
  bool always_;
  core::duration interval_;
  core::duration timeout_;
  core::health_judge judge_;
  checks checks_;
  log::logger& log_;
  std::string elections_;
  std::string identity_;
  std::function<std::int64_t()> unix_ms_;
  std::shared_ptr<std::function<void()>> changed_;  ///< shared with posts that may outlive us
  base::timer timer_;

  bool checking_ = false;
  core::time_point next_round_{};
  core::time_point round_begun_{};
  std::uint64_t round_ = 0;     ///< number of the newest round
  std::size_t unanswered_ = 0;  ///< checks of that round
  std::string failure_;         ///< why the first of these checks failed
  wire::health_report shown_;
};

}  // namespace tenure::health
