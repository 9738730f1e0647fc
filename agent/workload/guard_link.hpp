#pragma once

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "core/clock.hpp"
#include "core/vocabulary.hpp"
#include "guard/guard_access.hpp"
#include "guard/guard_fds.hpp"
#include "guard/target.hpp"
#include "log/log_line.hpp"
#include "workload/workload_owner.hpp"

/// The agent's side of the guard.
namespace tenure::workload {

/// The connection to the guard that started this agent, or that it found in a directory.
///
/// Nothing here waits: a message that the guard's socket cannot take now is sent later, and
/// deadlines go through shared memory. The link also backs up the guard: if a workload outlives its
/// deadline because the guard is dead or frozen, the link kills it.
///
/// Use it on its loop only. No handler is called from inside a call, and none after destruction.
class guard_link final : public workload_owner {
 public:
  using handler = std::function<void(const guard_event&)>;

  /// The agent's session.
  struct own_session {
    std::string id;         ///< 32 characters at most
    bool is_bound = false;  ///< false: it takes over the session of the guard's earlier agents
  };

  /// Takes over the descriptors named by TENURE_GUARD_FDS and removes that variable from the
  /// environment. `executor`: that of the loop. Fails with a message if it is unset or does not
  /// name a guard's descriptors. `foreign`: how to find a workload that the guard did not start.
  static std::expected<std::unique_ptr<guard_link>, std::string> from_environment(
      base::event_loop& on, const boost::asio::any_io_executor& executor, own_session session,
      handler on_event, const std::optional<settings::target>& foreign = std::nullopt);

  /// Uses the connection of a `guard_dialer`. Fails with a message if it is not a guard's.
  static std::expected<std::unique_ptr<guard_link>, std::string> over(
      base::event_loop& on, const boost::asio::any_io_executor& executor, guard::guard_fds fds,
      own_session session, handler on_event);

  /// True if this process was started by a guard.
  [[nodiscard]] static bool in_environment();

  /// Uses any connection, in real or virtual time.
  guard_link(base::event_loop& on, std::unique_ptr<guard::guard_access> with, own_session session,
             handler on_event);
  ~guard_link() override;
  guard_link(const guard_link&) = delete;
  guard_link& operator=(const guard_link&) = delete;

  /// The guard writes its own lines in this form from now on, with `fields` after the message,
  /// already formatted: "" or " key=value", in JSON ",\"key\":value".
  void log_as(log::log_form form, const std::string& fields);

  /// The guard asks the workload of term `version` to end at `stop_at`, and kills it at `kill_at`.
  /// Takes effect at once, through the page.
  void arm(core::version version, core::time_point stop_at, core::time_point kill_at) override;

  /// Shows this state of the lease to the workload from now on. Call it before `start`, so that the
  /// workload finds it from its first instruction on.
  void show(const guard::worker_term& what) override;

  /// The last deadline that the guard has acknowledged. The epoch if there was none.
  [[nodiscard]] core::time_point acknowledged() const;

  /// Stored in the page, which outlives the agent.
  void note_grant(core::version version) override;
  void forget_grants(core::version before) override;
  void note_api_port(std::uint16_t port) override;

  /// Starts the workload of an armed term, with `environment` ("KEY=VALUE", none empty) added to
  /// the guard's own. Answered by `workload_started`, `start_refused` or `start_failed`.
  void start(core::version version, const std::vector<std::string>& environment) override;

  /// Stops the workload: `signal` now (0: the guard's choice), SIGKILL at `kill_by` to every
  /// process that is left. A second order may only shorten the time.
  void stop(core::time_point kill_by, int signal = 0) override;

  /// The agent ends for good, and the guard with it: with `exit_code`, or else with the workload's
  /// status. The last call; end the process soon after.
  void bye(std::optional<int> exit_code) override;

  /// The guard is gone and its container was restarted: no process of the workload is left.
  void presume_dead() override;

  /// True from the order to start a workload until its death is known.
  [[nodiscard]] bool may_run() const override;

  /// True once the guard is gone.
  [[nodiscard]] bool gone() const override;

  /// Kills the workload without the guard. The link does this itself when the guard is gone or
  /// misses a deadline, but not yet when it hangs. `workload_exited` follows once every process is
  /// dead.
  void end_orphans() override;

 private:
  struct impl;
  std::shared_ptr<impl> self_;
};

}  // namespace tenure::workload
