#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/clock.hpp"
#include "core/guard.hpp"
#include "workload/agent_process.hpp"
#include "workload/foreign_processes.hpp"
#include "workload/guard_channel.hpp"
#include "workload/guard_door.hpp"
#include "workload/guard_log.hpp"
#include "workload/guard_process.hpp"
#include "workload/guard_protocol.hpp"
#include "workload/guard_wakes.hpp"
#include "workload/shared_page.hpp"
#include "workload/survivors.hpp"
#include "workload/worker_page.hpp"
#include "workload/workload_tree.hpp"

namespace tenure::workload {

/// The guard at work: hands what happens to `core::guard` and does what that says.
///
/// One thread. Only `open` allocates.
class guard_loop {
 public:
  explicit guard_loop(const guard_options& options) : options_(options) {}

  /// Gets everything from the kernel that will be needed. False, with the reason on stderr, if
  /// the guard could not keep its promise here.
  [[nodiscard]] bool open();

  /// True if agents come in by a door; else the guard starts one itself.
  [[nodiscard]] bool has_door() const { return options_.agent_argv.empty(); }

  /// Starts the agent. False, with the reason on stderr, if it cannot be started.
  [[nodiscard]] bool start_agent();

  /// One round: sleeps until something happens, and acts upon it.
  void turn();

  /// True once nothing is left to do and nothing is left to run.
  [[nodiscard]] bool finished() const { return ending_ && !runs() && !agent_.alive(); }

  /// Sends what has not been sent, if that can be done at once, and says what has not been said.
  void say_last();

  /// What to exit with. Precondition: finished.
  [[nodiscard]] int exit_status() const;

 private:
  void check_deadline();
  void set_timer();
  void wait();
  void take_signals();
  void reap();
  void check_exec();
  void check_empty();
  void report_end(int status);
  void report_start_failure(int error);
  void check_survivors();
  [[nodiscard]] survivors living_members() const;
  void tell(const survivors& what);
  void tell_survivors_again();
  [[nodiscard]] bool may_look_deep();
  void check_foreign();
  void sweep(const tally& found);
  void watch_foreign(const tally& found);
  void start_foreign();
  void say_seen();
  void refuse_waiting_start();
  void warn_of(const tally& found);
  void take_messages();
  void let_agents_in();

  void on_signal(int signo);
  void on_end_signal(int signo);
  void on_leader_reaped(int status);
  void on_agent_reaped(int status);
  void on_hang_up();
  void on_packet(const packet& what);
  void greet(const message::hello& from);
  void on(const message::start& what, std::string_view environment);
  void on(const message::bye& what);

  void start_workload(std::string_view environment);
  void stop_by_ourselves(core::duration grace);
  void forget_deadlines();
  void hear_last_bye();
  void carry_out(const core::guard_actions& todo);
  void note(const core::guard_actions& todo);
  void note_own(const core::guard_actions& todo);
  [[nodiscard]] message::exited end_with(int status) const;
  [[nodiscard]] int stop_signal() const;
  [[nodiscard]] bool runs() const { return core_.current() != core::guard::state::empty; }
  /// False for a foreign workload that is being stopped because nobody has said that it may run.
  [[nodiscard]] bool runs_under_a_lease() const {
    return runs() && core_.term() != core::no_version;
  }
  /// True if our own command has ended by itself: we end with it, and so does the agent, whichever
  /// of them comes to give the lease up.
  [[nodiscard]] bool ended_for_good() const {
    return ended_by_itself_ && !runs() && !foreign_ && !has_door();
  }
  /// True unless what runs is about to be dead: the next agent comes after that.
  [[nodiscard]] bool may_start_agent() const {
    return !runs() || core_.current() == core::guard::state::running;
  }

  const guard_options options_;
  core::guard core_;
  guard_wakes wakes_;
  shared_page page_;
  worker_page worker_page_;
  guard_channel channel_;
  guard_door door_;
  guard_log log_;
  agent_process agent_;
  workload_tree tree_;
  std::unique_ptr<foreign_processes> foreign_;  ///< instead of the tree, if somebody else starts it

  std::int64_t deadline_seen_ = 0;  ///< in the page, when the timer was last thought about
  bool exec_awaited_ = false;       ///< it is not known yet whether the program was executed
  bool deaths_ = false;             ///< there may be somebody to reap
  int end_signal_ = 0;              ///< the last that told us to end
  int asked_signal_ = 0;            ///< the stop signal that the agent named
  std::optional<int> start_error_;  ///< errno of the last start
  // Of the end of the workload.
  std::optional<core::time_point> told_at_;    ///< when it was told to end
  std::optional<core::time_point> killed_at_;  ///< when it was killed for the first time
  bool stopped_by_ourselves_ = false;          ///< at a deadline, and no agent knows of it yet

  /// When to say what SIGKILL has not ended: nothing until it is sent, `never` once that was said.
  std::optional<core::time_point> tell_survivors_at_;
  core::time_point look_deep_at_{};  ///< for what is below a survivor; not before

  session_id session_{};          ///< of our agents, one after the other; zeros: none has come yet
  bool ended_by_itself_ = false;  ///< the last workload, without being told to
  std::int64_t ended_at_ = 0;     ///< it did, by CLOCK_BOOTTIME in nanoseconds
  // Of a foreign workload.
  core::time_point look_at_ = core::never;         ///< when to look for it again
  bool sweeping_ = false;                          ///< what runs without a lease is to be stopped
  bool seen_ = false;                              ///< something of it, in this term
  bool warned_ = false;                            ///< that something of it may not be signalled
  std::optional<message::start> start_after_end_;  ///< of what is being swept

  bool ending_ = false;                           ///< we end when nothing is left
  std::optional<int> exit_code_;                  ///< what to end with; none: as the workload
  core::time_point agent_kill_at_ = core::never;  ///< of an agent that was to end by itself
};

/// Writes "tenure guard: ..." to stderr, without allocating: why there is going to be no guard.
void complain(std::string_view what);

}  // namespace tenure::workload
