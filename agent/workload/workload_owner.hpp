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

/// What the agent needs of whatever owns its workload: a guard, or hooks.
namespace tenure::workload {

/// The last process of the workload was observed to be gone. Exactly one follows each
/// `workload_started`.
struct workload_exited {
  int status;                            ///< of its first process, as waitpid gives it
  bool had_to_be_killed = false;         ///< it was told to end, and SIGKILL had to follow
  std::optional<core::time_point> at{};  ///< when, if that is known; it may be long ago
};

/// What an agent that has ended has left to the next one.
struct found_workload {
  core::version version = core::no_version;
  core::time_point stop_at{};
  core::time_point kill_at{};
  bool stopping = false;                   ///< it was told to end
  std::optional<workload_exited> ended{};  ///< it has ended by itself meanwhile
};

/// The guard has answered, for the first time: the link can be used.
struct guard_ready {
  std::optional<found_workload> found;  ///< `workload_exited` follows its end, if it has not ended
  /// Of the agents before, to go on with; empty: there was none.
  std::string session;
  /// The newest that was granted to that session, as far as its agents knew.
  core::version last_term = core::no_version;
  /// Where the newest workload was told to ask its agent; 0: at no port.
  std::uint16_t api_port = 0;
};

/// What has answered cannot be relied on, and why. Nothing else follows; drop the link.
struct guard_unusable {
  std::string why;
};

/// The workload of this term runs: its program was executed.
struct workload_started {
  pid_t pid;
  core::version version;
};

/// It was not started: its deadline had passed, or another one still ran.
struct start_refused {
  core::version version;
};

/// It could not be executed. Nothing runs. E2BIG: the environment is too large.
struct start_failed {
  core::version version;
  int error;  ///< errno
};

/// SIGKILL was sent a while ago, and has not ended all of the workload.
struct workload_survives {
  core::version version;
  process::survivors what;
};

/// The guard is dead, and so is what was certainly of the workload. What is left may be of it, or a
/// stranger's: it is not killed, and the lease must not be released. `workload_exited` follows.
struct workload_doubtful {
  core::version version;
  process::survivors what;
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
  /// It was asked to start a workload. When it goes on it may do so, until its deadline.
  bool start_unanswered = false;
};

/// A guard that hung has acknowledged the last deadline after all.
struct guard_recovers {};

using guard_event =
    std::variant<guard_ready, guard_unusable, workload_started, start_refused, start_failed,
                 workload_survives, workload_exited, workload_doubtful, signalled, guard_gone,
                 guard_hangs, guard_recovers>;

/// Starts and stops the workload for the agent, which need not know how.
///
/// No call waits. Used on the agent's executor only; no event comes from inside a call, and none
/// after destruction.
class workload_owner {
 public:
  virtual ~workload_owner() = default;

  /// What runs of the term of `version` is told to end at `stop_at`, and is dead by `kill_at`,
  /// whatever has become of the agent, as far as this owner can see to that.
  virtual void arm(core::version version, core::time_point stop_at, core::time_point kill_at) = 0;

  /// What the workload is to know of its lease, from now on. Before `start`, so that its first
  /// instruction finds it.
  virtual void show(const guard::worker_term& what) = 0;

  /// The store has granted our session this term. Kept for the next agent, should this one die.
  virtual void note_grant(core::version version) = 0;
  /// None that was kept is above `before` any more.
  virtual void forget_grants(core::version before) = 0;

  /// The workload that starts next is told to ask us at this port; 0: at none. Kept for the next
  /// agent, too.
  virtual void note_api_port(std::uint16_t port) = 0;

  /// Starts the workload of a term that was armed before. It is told `environment` ("KEY=VALUE",
  /// none empty).
  virtual void start(core::version version, const std::vector<std::string>& environment) = 0;

  /// Stops the workload: asks now (with `signal`, if that is how; 0: the owner's choice), and lets
  /// nothing of it live beyond `kill_by`, if it can. A second order may only shorten the time.
  virtual void stop(core::time_point kill_by, int signal) = 0;

  /// The agent is about to end for good: with `exit_code`, or as the workload did. The last call.
  virtual void bye(std::optional<int> exit_code) = 0;

  /// Nothing of the workload is left, as is known from elsewhere.
  virtual void presume_dead() = 0;

  /// True from the order to start a workload until it is known to be dead.
  [[nodiscard]] virtual bool may_run() const = 0;

  /// True once nobody is there any more to start or stop it.
  [[nodiscard]] virtual bool gone() const = 0;

  /// Kills the workload from here, if it is in sight.
  virtual void end_orphans() = 0;
};

}  // namespace tenure::workload
