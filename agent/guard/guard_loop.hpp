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

/// What a guard works on and with. All of it outlives the loop.
struct guard_parts {
  guard_host& host;
  guard_page& page;
  tenure_page& worker_page;
  packet_socket& socket;           ///< to the present agent
  agent_child& agent;              ///< never started if there is a door
  agent_acceptor* door = nullptr;  ///< null: the guard starts its agent
  guarded_processes& workload;
  guard_log& log;
};

/// What is worth waiting for besides signals and the timer.
struct guard_wait {
  bool room_to_send = false;  ///< something waits until the socket takes it
  bool only_look = false;     ///< there is more to do: do not wait at all
};

/// The guard at work: hands what happens to `core::guard` and does what that says. It calls nothing
/// of the kernel itself, so that it is the same in the guard process and in virtual time.
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
        door_(parts.door),
        workload_(parts.workload),
        log_(parts.log) {}

  /// Starts the agent. False, after a line in the log, if it cannot be started.
  [[nodiscard]] bool start_agent();

  /// The first half of a turn, before the guard sleeps: does what is due, and sets the timer.
  [[nodiscard]] guard_wait prepare();

  /// The second half, after something has woken it: acts upon what has happened.
  void act();

  /// True once nothing is left to do and nothing is left to run.
  [[nodiscard]] bool finished() const { return ending_ && !runs() && !agent_.alive(); }

  /// Sends what has not been sent, if that can be done at once, and says what has not been said.
  void say_last();

  /// What to exit with. Precondition: finished.
  [[nodiscard]] int exit_status() const;

 private:
  void check_deadline();
  void set_timer();
  void take_signals();
  void reap();
  void take_messages();
  void let_agents_in();

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
  void carry_out(const core::guard_actions& todo);
  void note(const core::guard_actions& todo);
  void note_own(const core::guard_actions& todo);
  [[nodiscard]] message::exited end_with(int status) const;
  [[nodiscard]] int stop_signal() const;
  [[nodiscard]] bool runs() const { return core_.current() != core::guard::state::empty; }
  /// False for a workload that is being stopped because nobody has said that it may run.
  [[nodiscard]] bool runs_under_a_lease() const {
    return runs() && core_.version() != core::no_version;
  }
  /// True if agents come in by a door; else the guard starts one itself.
  [[nodiscard]] bool has_door() const { return door_ != nullptr; }
  /// True unless what runs is about to be dead: the next agent comes after that.
  [[nodiscard]] bool may_start_agent() const {
    return !runs() || core_.current() == core::guard::state::running;
  }

  const guard_rules rules_;
  guard_host& host_;
  guard_page& page_;
  tenure_page& worker_page_;
  guard_channel channel_;
  agent_child& agent_;
  agent_acceptor* const door_;
  guarded_processes& workload_;
  guard_log& log_;
  core::guard core_;
  survivor_watch survivors_;

  std::int64_t deadline_seen_ = 0;  ///< in the page, when the timer was last thought about
  bool deaths_ = false;             ///< there may be somebody to reap
  int end_signal_ = 0;              ///< the last that told us to end
  int asked_signal_ = 0;            ///< the stop signal that the agent named
  // Of the end of the workload.
  std::optional<core::time_point> told_at_;    ///< when it was told to end
  std::optional<core::time_point> killed_at_;  ///< when it was killed for the first time
  bool stopped_by_ourselves_ = false;          ///< at a deadline, and no agent knows of it yet
  std::int64_t ended_at_ = 0;  ///< of the last one, by CLOCK_BOOTTIME in nanoseconds

  session_id session_{};  ///< of our agents, one after the other; zeros: none has come yet
  std::optional<message::start> start_after_end_;  ///< of what runs without a lease

  bool ending_ = false;                           ///< we end when nothing is left
  std::optional<int> exit_code_;                  ///< what to end with; none: as the workload
  core::time_point agent_kill_at_ = core::never;  ///< of an agent that was to end by itself
};

}  // namespace tenure::guard
