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

/// A connection to the guard that started this agent, or that it has found in a directory.
///
/// Nothing here waits: what the guard's socket cannot take now is sent when it can, and the
/// deadline goes through shared memory. The link is also the guard's own guard: a workload that
/// outlives its deadline, because the guard is dead or frozen, is killed from here.
///
/// Use it on its loop only. No handler is called from
/// inside a call, and none after destruction.
class guard_link final : public workload_owner {
 public:
  using handler = std::function<void(const guard_event&)>;

  /// The session that the agent is in.
  struct own_session {
    std::string id;         ///< 32 characters at most
    bool is_bound = false;  ///< false: it takes the session of the guard's earlier agents instead
  };

  /// Takes over the descriptors named by TENURE_GUARD_FDS and removes that variable from the
  /// environment. `executor`: that of the loop. Fails if it is unset or what it names is not a
  /// guard's; the text says which. `foreign`: how a workload is found that the guard has not
  /// started.
  static std::expected<std::unique_ptr<guard_link>, std::string> from_environment(
      base::event_loop& on, const boost::asio::any_io_executor& executor, own_session session,
      handler on_event, const std::optional<settings::target>& foreign = std::nullopt);

  /// Over what a `guard_dialer` has found. Fails if it is not a guard's, with a text.
  static std::expected<std::unique_ptr<guard_link>, std::string> over(
      base::event_loop& on, const boost::asio::any_io_executor& executor, guard::guard_fds fds,
      own_session session, handler on_event);

  /// True if this process was started by a guard.
  [[nodiscard]] static bool in_environment();

  /// Over any connection, in real or virtual time.
  guard_link(base::event_loop& on, std::unique_ptr<guard::guard_access> with, own_session session,
             handler on_event);
  ~guard_link() override;
  guard_link(const guard_link&) = delete;
  guard_link& operator=(const guard_link&) = delete;

  /// The guard writes its own lines in this form from now on, with `fields` behind the message, as
  /// they are to stand there: "" or " key=value", in JSON ",\"key\":value".
  void log_as(log::log_form form, const std::string& fields);

  /// The guard tells what runs of the term of `version` to end at `stop_at`, and kills it at
  /// `kill_at`. Takes effect at once, through the page.
  void arm(core::version version, core::time_point stop_at, core::time_point kill_at) override;

  /// What the workload is to know of its lease, from now on. Before `start`, so that its first
  /// instruction finds it.
  void show(const guard::worker_term& what) override;

  /// The deadline that the guard's timer is known to be set to. The epoch if it never was set.
  [[nodiscard]] core::time_point acknowledged() const;

  /// Goes into the page, which outlives the agent.
  void note_grant(core::version version) override;
  void forget_grants(core::version before) override;
  void note_api_port(std::uint16_t port) override;

  /// Starts the workload of a term that was armed before, with `environment` ("KEY=VALUE", none
  /// empty) on top of the guard's own. Answered by one of `workload_started`, `start_refused`,
  /// `start_failed`.
  void start(core::version version, const std::vector<std::string>& environment) override;

  /// Stops the workload: `signal` now (0: the guard's choice), SIGKILL at `kill_by` to whatever
  /// is left. A second order may only shorten the time.
  void stop(core::time_point kill_by, int signal = 0) override;

  /// The agent is about to end for good, and the guard with it: with `exit_code`, or as the
  /// workload did. The last call; end the process soon after.
  void bye(std::optional<int> exit_code) override;

  /// The guard is gone, and its container has been started anew: nothing of the workload is left.
  void presume_dead() override;

  /// True from the order to start a workload until it is known to be dead.
  [[nodiscard]] bool may_run() const override;

  /// True once the guard has gone.
  [[nodiscard]] bool gone() const override;

  /// Kills the workload from here, without the guard. Done by the link itself when the guard is
  /// gone or lets a deadline pass, not yet when it hangs; `workload_exited` follows once all of it
  /// is dead.
  void end_orphans() override;

 private:
  struct impl;
  std::shared_ptr<impl> self_;
};

}  // namespace tenure::workload
