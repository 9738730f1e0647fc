#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/clock.hpp"
#include "core/guard.hpp"
#include "guard/agent_acceptor.hpp"
#include "guard/agent_child.hpp"
#include "guard/guard_channel.hpp"
#include "guard/guard_host.hpp"
#include "guard/guard_log.hpp"
#include "guard/guard_page.hpp"
#include "guard/guard_protocol.hpp"
#include "guard/guard_rules.hpp"
#include "guard/guarded_processes.hpp"
#include "guard/packet_socket.hpp"
#include "guard/survivor_watch.hpp"
#include "guard/worker_page.hpp"

namespace tenure::guard {

/// The parts of a guard. All of them outlive the loop.
struct guard_parts {
  guard_host& host;
  guard_page& page;
  tenure_page& worker_page;
  packet_socket& socket;               ///< to the present agent
  agent_child& agent;                  ///< never started if there is an acceptor
  agent_acceptor* acceptor = nullptr;  ///< accepts agents; null: the guard starts its agent
  guarded_processes& workload;
  guard_log& log;
};

/// What to wait for besides signals and the timer.
struct guard_wait {
  bool room_to_send = false;  ///< a message waits until the socket is writable
  bool only_look = false;     ///< there is more to do: only poll
};

/// The guard's loop: passes events to `core::guard` and carries out its actions. It makes no system
/// calls itself, so the guard process and the simulator run the same code.
///
/// One thread. Allocates nothing.
class guard_loop {
 public:
  guard_loop(const guard_parts& parts, const guard_rules& rules)
      : rules_(rules),
        host_(parts.host),
        page_(parts.page),
        worker_page_(parts.worker_page),
        channel_(parts.socket),
        agent_(parts.agent),
        acceptor_(parts.acceptor),
        workload_(parts.workload),
        log_(parts.log) {}

  /// Call once, before the first turn: starts the agent, unless agents connect. False, after a line
  /// in the log, if it cannot be started.
  [[nodiscard]] bool begin() { return accepts_agents() || start_agent(); }

  /// The first half of a turn, before the guard sleeps: does what is due and sets the timer.
  [[nodiscard]] guard_wait prepare();

  /// The second half, after the guard wakes: handles what has happened.
  void act();

  /// True once the guard has to end and neither workload nor agent is left.
  [[nodiscard]] bool finished() const { return ending_ && !runs() && !agent_.alive(); }

  /// Answers what the agent has sent, sends remaining messages, as far as the socket takes them at
  /// once, and writes waiting log lines. Precondition: finished, or `begin` has failed.
  void say_last();

  /// The exit status. Precondition: finished.
  [[nodiscard]] int exit_status() const;

 private:
  [[nodiscard]] bool start_agent();
  void check_deadline();
  void set_timer();
  void take_signals();
  void reap();
  void take_messages();
  void accept_agents();

  void learn(const workload_news& what);
  void report_end(int status);
  void report_start_failure(int error);
  void stop_what_is_astray();
  void check_survivors();
  void tell(const process::survivors& what);

  void on_signal(int signo);
  void on_end_signal(int signo);
  void on_agent_reaped(int status);
  void on_hang_up();
  void on_packet(const packet& what);
  void greet(const message::hello& from);
  void on(const message::start& what, std::string_view environment);
  void on(const message::stop& what);
  void on(const message::bye& what);

  void start_workload(std::string_view environment);
  void refuse_waiting_start();
  void stop_by_ourselves(core::duration grace);
  void forget_deadlines();
  void hear_last_bye();
  void hear_last();
  void carry_out(const core::guard_actions& todo);
  void note(const core::guard_actions& todo);
  void note_own(const core::guard_actions& todo);
  [[nodiscard]] message::exited end_with(int status) const;
  [[nodiscard]] int stop_signal() const;
  [[nodiscard]] bool runs() const { return core_.current() != core::guard::state::empty; }
  /// False for a workload without a lease, which is being stopped.
  [[nodiscard]] bool runs_under_a_lease() const {
    return runs() && core_.version() != core::no_version;
  }
  /// True if agents connect over the guard's socket; else the guard starts one itself.
  [[nodiscard]] bool accepts_agents() const { return acceptor_ != nullptr; }
  /// False while the workload is ending: the next agent starts after that.
  [[nodiscard]] bool may_start_agent() const {
    return !runs() || core_.current() == core::guard::state::running;
  }

  const guard_rules rules_;
  guard_host& host_;
  guard_page& page_;
  tenure_page& worker_page_;
  guard_channel channel_;
  agent_child& agent_;
  agent_acceptor* const acceptor_;
  guarded_processes& workload_;
  guard_log& log_;
  core::guard core_;
  survivor_watch survivors_;

  std::int64_t deadline_seen_ = 0;  ///< in the page, when the timer was last computed
  bool deaths_ = false;             ///< there may be children to reap
  int end_signal_ = 0;              ///< the last signal that asked us to end
  int asked_signal_ = 0;            ///< the stop signal that the agent named
  // The end of the workload.
  std::optional<core::time_point> told_at_;    ///< when it was asked to end
  std::optional<core::time_point> killed_at_;  ///< when it was killed for the first time
  bool stopped_by_ourselves_ = false;  ///< at a deadline, without the agent's knowledge so far
  std::int64_t ended_at_ = 0;  ///< when the last workload ended, CLOCK_BOOTTIME in nanoseconds

  session_id session_{};  ///< the session of our successive agents; zeros: none so far
  std::optional<message::start>
      start_after_end_;  ///< waits for the end of a workload without a lease

  bool ending_ = false;                           ///< the guard ends when nothing is left
  std::optional<int> exit_code_;                  ///< none: the workload's
  core::time_point agent_kill_at_ = core::never;  ///< for an agent that should end by itself
};

}  // namespace tenure::guard
