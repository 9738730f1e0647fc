#pragma once

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"
#include "workload/guard_fds.hpp"
#include "workload/target.hpp"
#include "workload/worker_page.hpp"

/// The agent's side of the guard.
namespace tenure::workload {

/// What an agent that has ended has left to the next one.
struct found_workload {
  core::version term = core::no_version;
  core::time_point stop_at{};
  core::time_point kill_at{};
  bool stopping = false;  ///< it was told to end
};

/// The guard has answered, for the first time: the link can be used.
struct guard_ready {
  std::optional<found_workload> found;  ///< `workload_exited` follows its end
  /// Of the agent before, to go on with; empty: take a new one. An agent that knew of a workload
  /// has not released its term, so the next one may find it again. Otherwise a release may still be
  /// on its way, and must not meet a term of the next.
  std::string session;
};

/// The workload of this term runs: its program was executed.
struct workload_started {
  pid_t pid;
  core::version term;
};

/// It was not started: its deadline had passed, or another one still ran.
struct start_refused {
  core::version term;
};

/// It could not be executed. Nothing runs. E2BIG: the environment is too large.
struct start_failed {
  core::version term;
  int error;  ///< errno
};

/// The last process of the workload was observed to be gone. Exactly one follows each
/// `workload_started`.
struct workload_exited {
  int status;  ///< of its first process, as waitpid gives it
};

/// The guard was told to end (SIGTERM, SIGINT or SIGQUIT): shut down.
struct signalled {
  int signo;
};

/// The guard is dead, or has ended in order. The link ends what it left behind by itself; if a
/// workload ran, `workload_exited` follows when its process group is observed to be empty. Where it
/// cannot be observed, in another container, it follows when the deadline has passed at which the
/// workload is dead, or after `presume_dead`.
struct guard_gone {
  bool workload_in_sight = true;
};

/// The guard has not acknowledged a deadline within a second: it is stopped, or gets no processor.
/// It cannot be relied on; call `end_orphans`. The same for a guard that does not answer at all.
struct guard_hangs {
  bool workload_in_sight = true;  ///< as for `guard_gone`
};

/// A guard that hung has acknowledged the last deadline after all.
struct guard_recovers {};

using guard_event =
    std::variant<guard_ready, workload_started, start_refused, start_failed, workload_exited,
                 signalled, guard_gone, guard_hangs, guard_recovers>;

/// A connection to the guard that started this agent, or that it has found in a directory.
///
/// Nothing here waits: what the guard's socket cannot take now is sent when it can, and the
/// deadline goes through shared memory. The link is also the guard's own guard: a workload that
/// outlives its deadline, because the guard is dead or frozen, is killed from here.
///
/// Use it on its executor only, which must run one thing at a time. No handler is called from
/// inside a call, and none after destruction.
class guard_link {
 public:
  using handler = std::function<void(const guard_event&)>;

  /// Takes over the descriptors named by TENURE_GUARD_FDS and removes that variable from the
  /// environment. Fails if it is unset or what it names is not a guard's; the text says which.
  /// `foreign`: how a workload is found that the guard has not started.
  static std::expected<std::unique_ptr<guard_link>, std::string> from_environment(
      boost::asio::any_io_executor executor, handler on_event,
      const std::optional<target>& foreign = std::nullopt);

  /// Over what a `guard_dialer` has found. Fails if it is not a guard's, with a text.
  static std::expected<std::unique_ptr<guard_link>, std::string> over(
      boost::asio::any_io_executor executor, guard_fds fds, handler on_event);

  /// True if this process was started by a guard.
  [[nodiscard]] static bool in_environment();

  ~guard_link();
  guard_link(const guard_link&) = delete;
  guard_link& operator=(const guard_link&) = delete;

  /// The guard tells what runs of term `term` to end at `stop_at`, and kills it at `kill_at`. Takes
  /// effect at once, through the page.
  void arm(core::version term, core::time_point stop_at, core::time_point kill_at);

  /// What the workload is to know of its lease, from now on. Before `start`, so that its first
  /// instruction finds it.
  void show(const worker_term& what);

  /// The deadline that the guard's timer is known to be set to. The epoch if it never was set.
  [[nodiscard]] core::time_point acknowledged() const;

  /// Starts the workload of a term that was armed before, with `environment` ("KEY=VALUE", none
  /// empty) on top of the guard's own. `session` has 32 characters at most; the next agent gets it
  /// should this one die. Answered by one of `workload_started`, `start_refused`,
  /// `start_failed`.
  void start(core::version term, const std::string& session,
             const std::vector<std::string>& environment);

  /// Stops the workload: `signal` now (0: the guard's choice), SIGKILL at `kill_by` to whatever
  /// is left. A second order may only shorten the time.
  void stop(core::time_point kill_by, int signal = 0);

  /// The agent is about to end for good, and the guard with it: with `exit_code`, or as the
  /// workload did. The last call; end the process soon after.
  void bye(std::optional<int> exit_code);

  /// The guard is gone, and its container has been started anew: nothing of the workload is left.
  void presume_dead();

  /// True from the order to start a workload until it is known to be dead.
  [[nodiscard]] bool may_run() const;

  /// True once the guard has gone.
  [[nodiscard]] bool gone() const;

  /// Kills the workload from here, without the guard. Done by the link itself when the guard is
  /// gone or lets a deadline pass, not yet when it hangs; `workload_exited` follows once all of it
  /// is dead.
  void end_orphans();

 private:
  struct impl;
  static std::expected<std::unique_ptr<guard_link>, std::string> make(
      const boost::asio::any_io_executor& executor, guard_fds fds, pid_t guard, handler on_event);
  explicit guard_link(std::shared_ptr<impl> self);
  std::shared_ptr<impl> self_;
};

}  // namespace tenure::workload
