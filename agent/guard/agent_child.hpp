#pragma once

#include <sys/types.h>

#include <expected>

#include "core/clock.hpp"

namespace tenure::guard {

/// Starts and ends the process of an agent. `agent_process` is the real one. Allocates nothing.
class agent_launcher {
 public:
  virtual ~agent_launcher() = default;

  /// Starts an agent, connects the guard's socket with it and shares both pages. Returns its
  /// process id, or what is wrong, for a person; the socket is closed then.
  [[nodiscard]] virtual std::expected<pid_t, const char*> launch() = 0;

  /// Precondition: `agent` was launched here and is not reaped yet.
  virtual void signal(pid_t agent, int signo) = 0;
};

/// The agent as a child of the guard: is started, and after a crash again, after a pause. Where
/// agents come in by a door there is never one.
class agent_child {
 public:
  explicit agent_child(agent_launcher& launcher) : launcher_(launcher) {}

  /// Null, or what is wrong; it is due again after a pause then.
  [[nodiscard]] const char* start(core::time_point now);

  /// It was reaped.
  void ended() { pid_ = 0; }

  /// It is to be started again after a pause, which doubles with every crash.
  void crashed(core::time_point now);

  /// Precondition: alive.
  void signal(int signo) { launcher_.signal(pid_, signo); }

  [[nodiscard]] bool alive() const { return pid_ != 0; }
  /// 0 if it is not alive.
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// When to start it; `never` while it runs, or if nobody wants it again.
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
