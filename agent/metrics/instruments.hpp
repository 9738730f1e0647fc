#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "api/snapshot.hpp"
#include "core/clock.hpp"
#include "core/health.hpp"
#include "core/timing.hpp"
#include "http/server/traffic.hpp"
#include "metrics/duration_histogram.hpp"
#include "metrics/election_families.hpp"
#include "metrics/registry.hpp"

namespace tenure::metrics {

/// Calls to a store, and their outcomes (see stores/store.hpp).
enum class operation : std::uint8_t { acquire, renew, release, read, watch };
enum class outcome : std::uint8_t { done, refused, lost, unknown };
inline constexpr std::size_t operations = 5;
inline constexpr std::size_t outcomes = 4;

/// What never changes while the agent runs.
struct constants {
  core::timing when;
  bool has_health = false;   ///< the workload has health checks
  bool has_traffic = false;  ///< Kubernetes is told which pod is active
};

/// All that the agent counts and measures, and the page that shows it.
///
/// The election thread calls the recording functions: none of them takes a lock, allocates, waits
/// or fails, even while a page is being made. One other thread at a time calls `page`.
class instruments {
 public:
  explicit instruments(const constants& about);

  /// The store has answered, or missed a deadline. A watch answers when it first shows something,
  /// and when it breaks.
  void store_answered(operation what, outcome how);
  /// A renewal was acknowledged, this long after it was requested.
  void renewal_took(core::duration what);
  /// A renewal was acknowledged, this long before the first of its elections would have stopped.
  void renewal_left(core::duration margin);

  /// Adds the metrics of the process that kills the workload. Call at most once, before `page`.
  void add_guard();
  /// Precondition of these three: `add_guard`.
  void guard_is(bool up);
  void guard_hung();
  /// A guard was found. The first one of an agent does not count as a restart.
  void guard_found();

  /// The verdict of the health checks. Precondition: `has_health`.
  void health_is(core::health verdict);

  /// The workload of an agent that has ended continues under this one.
  void workload_adopted();

  /// Precondition of these two: `has_traffic`.
  void traffic_named(bool is);
  void traffic_failed();

  void slept(core::duration lasted);
  void was_late(core::duration by);
  void wall_clock_jumped();

  /// The counters of the listeners.
  http::traffic& api_traffic() { return api_traffic_; }
  http::traffic& probe_traffic() { return probe_traffic_; }

  /// All metrics, in Prometheus' text format. Takes the snapshot before it reads the clock.
  [[nodiscard]] std::string page(const api::published& from, const clock_reader& at,
                                 std::uint64_t log_lines_lost);

 private:
  registry kept_;
  std::array<std::array<counter, outcomes>, operations> requests_;
  gauge guard_up_;
  bool guard_was_found_ = false;
  counter guard_hangs_;
  counter guard_restarts_;
  counter unhealthy_;
  core::health health_ = core::health::unknown;
  counter adoptions_;
  gauge traffic_shown_;
  counter traffic_failures_;
  counter sleeps_;
  counter sleep_seconds_;
  counter delays_;
  counter delay_seconds_;
  counter wall_jumps_;
  duration_histogram renewal_duration_;
  duration_histogram renewal_margin_;
  http::traffic api_traffic_;
  http::traffic probe_traffic_;
  std::size_t last_page_bytes_ = 0;
};

}  // namespace tenure::metrics
