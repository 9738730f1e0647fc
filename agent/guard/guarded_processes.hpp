#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

#include "core/clock.hpp"
#include "core/guard.hpp"
#include "guard/guard_host.hpp"
#include "process/survivors.hpp"

namespace tenure::guard {

/// What was learned about the workload.
struct workload_news {
  std::optional<pid_t> started{};  ///< it runs: its first process; 0: not known yet
  bool leader_gone = false;        ///< its first process has ended, and others are left
  bool runs_astray = false;        ///< something of it runs although nobody has started it
  std::optional<int> failed{};     ///< it could not be started (errno); nothing is left
  std::optional<int> ended{};      ///< nothing is left; the first one's status, as waitpid gives it
};

/// What a guard guards: the tree of its own command (`started_workload`), or processes that it has
/// found (`foreign_workload`). It is chosen once, when the guard opens.
///
/// One thread. Nothing here allocates.
class guarded_processes {
 public:
  using state = core::guard::state;

  virtual ~guarded_processes() = default;

  /// The order to start. Precondition: empty, as far as is known.
  [[nodiscard]] virtual workload_news start(core::time_point now, std::string_view environment) = 0;

  /// A child of the guard has ended, or was stopped.
  [[nodiscard]] virtual workload_news child_changed(const child_change& what, state is) = 0;

  /// Whether the start has come to something.
  [[nodiscard]] virtual workload_news check_start() = 0;

  /// Whether it is there, once a turn.
  [[nodiscard]] virtual workload_news look(core::time_point now, state is) = 0;

  /// When to `look` at the latest.
  [[nodiscard]] virtual core::time_point look_at() const = 0;

  /// Tells all of it to end.
  virtual void terminate(core::time_point now, int signo) = 0;

  /// SIGKILL to all of it. `deep`: also to what signals to children do not reach, at a price.
  virtual void kill(core::time_point now, bool deep) = 0;

  /// A signal to the guard that is the workload's.
  virtual void forward(int signo) = 0;

  /// What SIGKILL has not ended.
  [[nodiscard]] virtual process::survivors living() = 0;

  /// Its first process; 0: there is none, or it is not known.
  [[nodiscard]] virtual pid_t first() const = 0;

  /// Its status, as waitpid gives it, if it has ended without being told to, so that the guard and
  /// its agent end with it.
  [[nodiscard]] virtual std::optional<int> ended_by_itself() const = 0;

  /// What the guard exits with if nobody has said otherwise. Nothing: the workload does not tell.
  [[nodiscard]] virtual std::optional<int> exit_status() const = 0;
};

}  // namespace tenure::guard
