#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

#include "core/clock.hpp"
#include "core/guard.hpp"
#include "guard/guard_host.hpp"
#include "process/survivors.hpp"

namespace tenure::guard {

/// What a call has found out about the workload.
struct workload_news {
  std::optional<pid_t> started{};  ///< it runs; its first process; 0: not known yet
  bool leader_gone = false;        ///< its first process has ended, others are left
  bool runs_astray = false;        ///< processes of it run without a lease
  std::optional<int> failed{};     ///< it could not be started (errno); no process is left
  std::optional<int> ended{};      ///< no process is left; the first one's status, from waitpid
};

/// What a guard guards: the tree of its own command (`started_workload`), or processes that it
/// finds (`foreign_workload`). Chosen once, when the guard opens.
///
/// One thread. Nothing here allocates.
class guarded_processes {
 public:
  using state = core::guard::state;

  virtual ~guarded_processes() = default;

  /// Starts the workload. Precondition: no process of it runs, as far as we know.
  [[nodiscard]] virtual workload_news start(core::time_point now, std::string_view environment) = 0;

  /// A child of the guard has ended, or was stopped.
  [[nodiscard]] virtual workload_news child_changed(const child_change& what, state is) = 0;

  /// Whether the start has succeeded or failed meanwhile.
  [[nodiscard]] virtual workload_news check_start() = 0;

  /// Whether the workload runs; called once per turn.
  [[nodiscard]] virtual workload_news look(core::time_point now, state is) = 0;

  /// The latest time for the next `look`.
  [[nodiscard]] virtual core::time_point look_at() const = 0;

  /// Asks every process to end, with this signal.
  virtual void terminate(core::time_point now, int signo) = 0;

  /// SIGKILL to every process. `deep`: also to those that signals to children do not reach, which
  /// is expensive.
  virtual void kill(core::time_point now, bool deep) = 0;

  /// Passes on a signal that the guard received for the workload.
  virtual void forward(int signo) = 0;

  /// What SIGKILL has not ended.
  [[nodiscard]] virtual process::survivors living() = 0;

  /// Its first process; 0: none, or unknown.
  [[nodiscard]] virtual pid_t first() const = 0;

  /// Its status, from waitpid, if it ended without being asked to; guard and agent then end with
  /// it.
  [[nodiscard]] virtual std::optional<int> ended_by_itself() const = 0;

  /// The guard's default exit status. Nothing: the workload has none.
  [[nodiscard]] virtual std::optional<int> exit_status() const = 0;
};

}  // namespace tenure::guard
