#pragma once

#include <sys/types.h>

#include <expected>

#include "core/clock.hpp"

namespace tenure::guard {

/// Starts and ends the process of an agent. `agent_process` is the real implementation. Allocates
/// nothing.
class agent_launcher {
 public:
  virtual ~agent_launcher() = default;

  /// Starts an agent, connects the guard's socket with it and shares both pages. Returns its
  /// process id, or a message; the socket is closed then.
  [[nodiscard]] virtual std::expected<pid_t, const char*> launch() = 0;

  /// Precondition: `agent` was launched here and is not reaped yet.
  virtual void signal(pid_t agent, int signo) = 0;
};

/// The agent as a child of the guard: started, and restarted after a crash and a pause. Not used if
/// agents connect over the guard's socket.
class agent_child {
 public:
  explicit agent_child(agent_launcher& launcher) : launcher_(launcher) {}

  /// Null, or a message; the next start is due after a pause then.
  [[nodiscard]] const char* start(core::time_point now);

  /// The agent was reaped.
  void ended() { pid_ = 0; }

  /// Schedules a restart after a pause, which doubles with every crash.
  void crashed(core::time_point now);

  /// Precondition: alive.
  void signal(int signo) { launcher_.signal(pid_, signo); }

  [[nodiscard]] bool alive() const { return pid_ != 0; }
  /// 0 if it is not alive.
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// When to start it; `never` while it runs, or if it is not to be started again.
  [[nodiscard]] core::time_point due() const { return due_; }
  void never_again() { due_ = core::never; }

 private:
  agent_launcher& launcher_;
  pid_t pid_ = 0;
  core::time_point started_at_{};
  core::time_point due_ = core::never;
  core::duration pause_{};
};

}  // namespace tenure::guard
