#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"
#include "guard/worker_page.hpp"
#include "process/survivors.hpp"

/// The agent's interface to the owner of its workload: a guard, or hooks.
namespace tenure::workload {

/// The last process of the workload was observed to be gone. Exactly one follows each
/// `workload_started`.
struct workload_exited {
  int status;                            ///< its first process's status, from waitpid
  bool had_to_be_killed = false;         ///< it was asked to end, and SIGKILL had to follow
  std::optional<core::time_point> at{};  ///< when, if known; may be long ago
  bool with_container = false;           ///< all of its container is gone; the status is not known
};

/// The workload that an agent has left running for the next one.
struct found_workload {
  core::version version = core::no_version;
  core::time_point stop_at{};
  core::time_point kill_at{};
  bool stopping = false;                   ///< it was told to end
  std::optional<workload_exited> ended{};  ///< set if it has ended by itself meanwhile
};

/// The guard has answered for the first time: the link can be used.
struct guard_ready {
  std::optional<found_workload> found;  ///< `workload_exited` follows its end, if it has not ended
  /// The session of the previous agents, to continue with; empty: there was none.
  std::string session;
  /// The newest term that session was granted, as far as its agents knew.
  core::version last_term = core::no_version;
  /// The agent's API port that the newest workload was given; 0: none.
  std::uint16_t api_port = 0;
};

/// The guard cannot be used, and why. No event follows; drop the link.
struct guard_unusable {
  std::string why;
};

/// The workload of this term runs: its program was executed.
struct workload_started {
  pid_t pid;
  core::version version;
};

/// The workload was not started: its deadline had passed, or another one still ran.
struct start_refused {
  core::version version;
};

/// The program could not be executed. Nothing runs. E2BIG: the environment is too large.
struct start_failed {
  core::version version;
  int error;  ///< errno
};

/// SIGKILL was sent a while ago and has not ended all processes of the workload.
struct workload_survives {
  core::version version;
  process::survivors what;
};

/// The guard is dead, and so are all processes that certainly belonged to the workload. Others may
/// belong to it: they are not killed, and the lease must not be released. `workload_exited`
/// follows.
struct workload_doubtful {
  core::version version;
  process::survivors what;
};

/// The guard got SIGTERM, SIGINT or SIGQUIT: shut down.
struct signalled {
  int signo;
};

/// The guard is dead or has ended normally. The link itself kills the workload that it left behind;
/// if a workload ran, `workload_exited` follows when its process group is observed to be empty. In
/// another container only the end of all of it can be observed, if at all: then `workload_exited`
/// follows after that, or after the workload's deadline, or after `presume_dead`.
struct guard_gone {
  bool workload_in_sight = true;
  bool with_container = false;  ///< all of its container is gone, the workload included
};

/// The guard has not acknowledged a deadline within a second, or does not answer at all: it is
/// stopped, or gets no processor time. Do not rely on it; call `end_orphans`.
struct guard_hangs {
  bool workload_in_sight = true;  ///< as in `guard_gone`
  /// A start is unanswered. If the guard continues, it may still carry it out until the deadline.
  bool start_unanswered = false;
};

/// A guard that hung has acknowledged the last deadline after all.
struct guard_recovers {};

using guard_event =
    std::variant<guard_ready, guard_unusable, workload_started, start_refused, start_failed,
                 workload_survives, workload_exited, workload_doubtful, signalled, guard_gone,
                 guard_hangs, guard_recovers>;

/// Starts and stops the workload and hides from the agent how.
///
/// No call waits. Use it on the agent's executor only. No event comes from inside a call but
/// `presume_dead`, and none after destruction.
class workload_owner {
 public:
  virtual ~workload_owner() = default;

  /// The workload of term `version` is asked to end at `stop_at` and is dead by `kill_at`, even if
  /// the agent has died, as far as this owner can ensure it.
  virtual void arm(core::version version, core::time_point stop_at, core::time_point kill_at) = 0;

  /// Shows this state of the lease to the workload from now on. Call it before `start`, so that the
  /// workload finds it from its first instruction on.
  virtual void show(const guard::worker_term& what) = 0;

  /// The store has granted our session this term. Kept for the next agent, in case this one dies.
  virtual void note_grant(core::version version) = 0;
  /// Lowers a kept grant that is above `before` to `before`.
  virtual void forget_grants(core::version before) = 0;

  /// The next workload to start gets this API port; 0: none. Also kept for the next agent.
  virtual void note_api_port(std::uint16_t port) = 0;

  /// Starts the workload of an armed term, with `environment` ("KEY=VALUE", none empty).
  virtual void start(core::version version, const std::vector<std::string>& environment) = 0;

  /// Stops the workload: asks it now (with `signal`, if the owner uses signals; 0: the owner's
  /// choice), and ensures that no process lives beyond `kill_by`, if it can. A second order may
  /// only shorten the time.
  virtual void stop(core::time_point kill_by, int signal) = 0;

  /// The agent ends for good: with `exit_code`, or else with the workload's status. The last call.
  virtual void bye(std::optional<int> exit_code) = 0;

  /// It is known from elsewhere that no process of the workload is left. If one may have run,
  /// `workload_exited` comes from inside this call: its caller drops this owner next.
  virtual void presume_dead() = 0;

  /// True from the order to start a workload until its death is known.
  [[nodiscard]] virtual bool may_run() const = 0;

  /// True once the owner can no longer start or stop it.
  [[nodiscard]] virtual bool gone() const = 0;

  /// Kills the workload directly, if it is in sight.
  virtual void end_orphans() = 0;
};

}  // namespace tenure::workload
