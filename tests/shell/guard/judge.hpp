#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "shell/guard/processes.hpp"
#include "shell/world.hpp"

namespace tenure::shell {

/// What must never happen between a guard, its agents and its workload. Each is a sentence of
/// docs/safety.md, or of the header of a class.
enum class guard_rule : std::uint8_t {
  none,
  outlives_deadline,      ///< alive after `kill_at`, although guard or agent could kill it
  starts_after_deadline,  ///< a workload is started whose `kill_at` has passed, or is not armed
  start_not_answered,     ///< the agent did not hear what became of its order to start
  answered_twice,         ///< an answer to no order, or two to one
  exit_not_reported,      ///< a workload is dead, and its agent did not hear of it
  exit_reported_twice,    ///< the end of a workload that was not running
  exited_while_alive,     ///< a workload reported to have ended has a living process
  ended_without_cause,    ///< told to end before `stop_at`, without an order
  killed_without_cause,   ///< killed before `kill_at`, without an order
  finds_what_is_not,      ///< an agent hears of no workload, or of another than runs
  session_lost,           ///< an agent is not given the session of the agents before
  hangs_though_well,      ///< a guard that runs on time is reported to hang
  hang_unnoticed,         ///< a guard acknowledges no deadline, and its agent goes on with it
  outlives_guard,         ///< alive after its guard was lost, although the agent could kill it
  used_with_other_clock,  ///< a guard whose clock is not that of its agent is given deadlines
  refused_though_well,    ///< a guard with the right clock is not used
  page_outlives_agent,    ///< the worker page says "active" where the guard has ended it alone
  told_before_shown,      ///< a workload is started or told to stop, and the API says otherwise
  runs_astray,            ///< what the kubelet starts runs without a lease, and is not stopped
  never_ends,             ///< a guard that is to end does not
};

const char* name(guard_rule r);

/// Compares what guard and agents say and do with what is true of the processes. The first broken
/// rule is kept.
class guard_judge {
 public:
  /// `label`: stands before what is printed.
  guard_judge(world& in, modelled_processes& processes, machine_clock clock, bool traced,
              std::string label = {})
      : world_(in),
        processes_(processes),
        clock_(clock),
        traced_(traced),
        label_(std::move(label)) {}

  // What agents do and hear.
  void armed(std::uint64_t version, core::time_point stop_at, core::time_point kill_at);
  void asks_for_start(pid_t agent, std::uint64_t version);
  /// `is_start`: it runs; else it was refused or could not be started. `pid`: of the first process.
  void answered(pid_t agent, std::uint64_t version, bool is_start, pid_t pid);
  /// `doubtful`: the agent was told that something hidden may be left; `presumed`: nobody has seen
  /// the end.
  void exited(pid_t agent, bool doubtful, bool seen, bool presumed, world_time guard_well_since);
  /// `is_news`: its guard, the one with that number, lives.
  void found(pid_t agent, std::uint64_t version, bool has_ended, const std::string& session,
             std::uint64_t guard, bool is_news);
  /// An agent is dead, with what it was waiting for.
  void agent_gone(pid_t agent) { told_.erase(agent); }
  void hangs(world_time guard_well_since);

  /// All earlier processes are gone, and the machine has another clock.
  void boots(machine_clock clock);

  // What becomes of the workload.
  /// `decided_at`: when the guard began the turn in which it starts it.
  void starts(std::uint64_t version, world_time decided_at);
  /// From now on what runs may be ended at any time.
  void may_end(const std::string& why);
  /// So may what was to be started and is not yet: it was ordered.
  void all_may_end(const std::string& why);
  /// `signo`: SIGKILL, or one that asks it to end.
  void told_to_end(std::uint64_t version, int signo, const char* by_whom);
  /// What the kubelet has started does not run under a term any more.
  void found_term_over();

  /// Since when each of them runs on time; `world_never`: it does not, or is dead.
  struct ability {
    world_time guard = sim::world_never;
    pid_t agent_pid = 0;  ///< the connected one; 0: there is none
    world_time agent = sim::world_never;
    world_time agent_reaches = sim::world_never;  ///< the workload, without the guard
    std::uint64_t guards = 0;  ///< that there have been: the number of the present one
    /// For what the kubelet starts: when it has to be dead after it has begun to run without a
    /// lease. Nothing: it starts nothing.
    std::optional<core::duration> stops_astray_within{};
    bool may_run_on_standby = false;
    std::uint64_t found_term = 0;  ///< under which it runs; 0: under none
  };
  /// Called again and again.
  void look(const ability& since);

  void say(const std::string& what) const;
  void broke(guard_rule what, const std::string& details);
  [[nodiscard]] guard_rule broken() const { return broken_; }
  [[nodiscard]] const std::string& details() const { return details_; }
  /// When the workload of this term has to be killed; the epoch if no agent has said so.
  [[nodiscard]] world_time due(std::uint64_t version) const;
  /// Called with each workload that starts. `late`: the guard stood still after it had decided so,
  /// until the deadline was over.
  /// `asked_at`: when its agent asked for it, or never.
  std::function<void(std::uint64_t version, bool late, world_time asked_at)> on_start;
  /// Called when the first rule is broken.
  std::function<void(guard_rule, const std::string& details)> on_broken;
  /// The session that the agents know. Empty: no agent has started.
  std::string session;
  /// Sessions of agents that had opened the store before they met the guard. The guard takes over
  /// the one that it is told, also from an agent that ends before it hears of that.
  std::set<std::string> bound_sessions;
  /// The kubelet has not started anything yet in the present term, as far as the guard has seen.
  bool awaits_first_process = false;

 private:
  /// What one agent has asked for, and knows.
  struct knowledge {
    std::uint64_t asked = 0;          ///< the term whose order to start has no answer yet; 0: none
    std::uint64_t running = 0;        ///< that of the workload which it believes to run; 0: none
    bool may_be_named_later = false;  ///< it was told to run without its first process
    world_time asked_at{};
  };
  struct deadline {
    core::time_point stop_at{};
    core::time_point kill_at{};
    core::time_point stop_at_before{};
    core::time_point kill_at_before{};
    world_time armed_at{};
  };
  [[nodiscard]] deadline in_force(std::uint64_t version);
  [[nodiscard]] world_time answerable_from(const knowledge& of) const;
  void look_at_deadlines(const ability& since);
  void look_at_reports(const ability& since);
  void look_for_strays(const ability& since);
  [[nodiscard]] const modelled_process* living_of(std::uint64_t version) const;

  world& world_;
  modelled_processes& processes_;
  machine_clock clock_;
  bool traced_;
  std::string label_;
  guard_rule broken_ = guard_rule::none;
  std::string details_;
  std::map<std::uint64_t, deadline> deadlines_;  ///< of each term, as last armed
  std::map<pid_t, knowledge> told_;              ///< of each agent
  std::uint64_t running_ = 0;                    ///< the newest that was started, in truth
  std::set<std::uint64_t> stopped_early_;        ///< terms that may end before they are started
  bool has_cause_ = false;                       ///< it may be ended before its deadline
  std::optional<core::time_point> kill_due_;     ///< it was told to end at its deadline; kill then
  world_time last_alive_{};                      ///< something of a workload
  world_time found_term_over_at_{};
  world_time last_stray_{};  ///< something that runs without a lease, and that a start waits for
};

}  // namespace tenure::shell
