#pragma once

#include <cstdint>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"

/// The guard's decisions, apart from the kernel calls that carry them out.
///
/// The guard owns the workload and holds two instants, `stop_at` and `kill_at`, which only an
/// acknowledged renewal moves forward. At the first it asks the workload to end, at the second it
/// kills what is left, whether or not the agent still lives. So the workload survives the death of
/// its agent: another agent may start, find the workload running, and renew in time.
///
/// The guard process and the simulator both run this class.
namespace tenure::core {

struct state_reader;  // tests/explore: tells two states apart

/// What the guard process must do now; several may be set. Carried out from top to bottom.
struct guard_actions {
  bool kill = false;       ///< SIGKILL to everything that is left of the workload
  bool terminate = false;  ///< the stop signal to the workload's process group
  bool start = false;      ///< start the workload
  bool refused = false;    ///< not started: its deadline has passed, or another one still runs
};

/// Knows what runs and until when. Never allocates, never fails, reads no clock.
///
/// Not thread-safe; the guard process has one thread.
class guard {
 public:
  enum class state : std::uint8_t {
    empty,     ///< nothing runs
    running,   ///< the workload runs
    stopping,  ///< it was asked to end and is killed at `kill_by`
    killing,   ///< SIGKILL was sent; its death has not been observed yet
  };

  /// The agent moved the deadlines. The newest ones count, even if they are earlier.
  [[nodiscard]] guard_actions armed(time_point now, time_point stop_at, time_point kill_at);

  /// The agent wants the workload to run.
  [[nodiscard]] guard_actions start_asked(time_point now, core::version version);

  /// The agent wants the workload to end: the stop signal now, SIGKILL at `kill_by`. A second order
  /// may only shorten the time.
  [[nodiscard]] guard_actions stop_asked(time_point now, time_point kill_by);

  /// The workload's first process has ended and others are left: these have until `kill_by`.
  [[nodiscard]] guard_actions leader_gone(time_point now, time_point kill_by);

  /// The last process of the workload was observed to be gone, or the workload could not be
  /// started. Forgets the deadlines: the next start needs a new `armed`.
  void emptied();

  /// The timer has fired, or anything else may have made something due.
  [[nodiscard]] guard_actions woke(time_point now);

  /// When to call `woke`; `never` while nothing runs.
  [[nodiscard]] time_point next_wake() const;

  [[nodiscard]] state current() const { return state_; }
  [[nodiscard]] core::version version() const { return version_; }

 private:
  friend struct state_reader;

  [[nodiscard]] guard_actions stop(time_point now, time_point kill_by);

  state state_ = state::empty;
  core::version version_ = no_version;
  time_point stop_at_ = time_point::min();  ///< when the lease requires the workload to end
  time_point kill_at_ = time_point::min();  ///< when the lease requires that nothing runs
  time_point kill_by_ = never;              ///< when the stop order kills
  time_point again_ = never;                ///< when to repeat SIGKILL
};

}  // namespace tenure::core
