#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fault_kinds.hpp"
#include "judged_link.hpp"
#include "runtime/surroundings.hpp"
#include "shell/guard/modelled_guard.hpp"
#include "shell/guard/run_record.hpp"
#include "stage.hpp"

namespace tenure::shell {

/// What happens to the agent of a pod, for who makes it.
struct agent_hooks {
  std::function<void()> begins;        ///< its first instruction
  std::function<void(bool on)> pause;  ///< SIGSTOP, SIGCONT
  std::function<void(int signo)> told_to_end;
  std::function<void()> dies;
  std::function<std::optional<std::uint64_t>()> shows;  ///< see `guard_machine::shown`
};

/// A pod with the guard that ships, its agent and its workload, all of which can be stopped, killed
/// and started anew, each alone or together.
///
/// If `stage::found`, the kubelet starts the workload, in a container that outlives guard and
/// agent. If `stage::guard_socket`, the guard is the first process of a container, which ends with
/// it, and agents come in from another one. Else the guard starts its agent, both outside of
/// containers.
class guarded_pod {
 public:
  guarded_pod(stage& s, const pod_machine& on, agent_hooks agent, bool traced);
  guarded_pod(const guarded_pod&) = delete;
  guarded_pod& operator=(const guarded_pod&) = delete;

  /// Starts what the kubelet starts.
  void open();

  // What an agent gets from its machine.
  [[nodiscard]] runtime::guard_result connect_parent(const std::shared_ptr<process>& loop,
                                                     const runtime::guard_wish& how,
                                                     runtime::guard_handler to);
  [[nodiscard]] runtime::run_record_result open_run_record();
  [[nodiscard]] bool guard_listens() const { return guard_ && guard_->lives(); }
  /// `answer` comes on the loop: the way in, or nothing if the agent is turned away.
  void knock(const std::shared_ptr<process>& loop,
             std::function<void(std::optional<way_to_guard>)> answer);
  [[nodiscard]] std::unique_ptr<workload::workload_owner> connect(
      way_to_guard over, const std::shared_ptr<process>& loop, const runtime::guard_wish& how,
      runtime::guard_handler to);
  /// The agent has ended by itself.
  void agent_exits(int status);

  // What goes wrong.
  /// Something of what a guard, its agent and its workload can come to. `lasts`: what ends again.
  void fault(const swarm<guard_fault>& kinds, core::duration lasts);
  /// Nothing of it gets any time.
  void stand_still(core::duration lasts);
  void freeze_guard(core::duration lasts);
  void pause_agent(bool on);
  /// SIGKILL. In a container of its own the next one begins after `away`.
  void kill_agent(core::duration away);
  void end_agent();  ///< SIGTERM
  void end_workload();
  /// All that is in it is gone at once; what the kubelet starts comes back after `away`.
  void vanish(core::duration away);
  /// Its machine has booted, which has another clock now. Precondition: `vanish` was called.
  void boots();
  void mend();

  /// True if its agent may rely on a guard, as far as it has heard.
  [[nodiscard]] bool agent_has_guard() const;
  [[nodiscard]] world_time agent_able_since() const;
  /// True while its guard lives and does nothing.
  [[nodiscard]] bool guard_hangs() const;
  /// True if something of this workload lives before its deadline, or although the guard, or the
  /// agent in its place, could have killed it then. Nobody could if it hung in the kernel, or if it
  /// was started late by a guard that had stood still.
  [[nodiscard]] bool lives_by_mistake(std::uint64_t version) const;
  /// True if something of this workload lives although guard or agent could have killed it since
  /// the agent has heard that its term is over.
  [[nodiscard]] bool outlives_news(std::uint64_t version, world_time heard_at) const;

 private:
  void start_guard();
  void start_guard_in(core::duration wait);
  void start_agent_in(core::duration wait);
  void begin_agent(pid_t pid);
  void launched(pid_t pid, const std::shared_ptr<modelled_line>& line);
  void bury(pid_t pid);
  void tick();
  void clean_up();
  void check_guard_ends();
  /// Starts the container of signal mode whenever nothing of it is left.
  void keep_container();
  [[nodiscard]] modelled_process* some_process();
  [[nodiscard]] bool is_known(const modelled_process& what) const;
  [[nodiscard]] bool could_kill(const modelled_process& what) const;

  void pause_agent_for(core::duration lasts);
  void kill_guard();
  void fork_something();
  void hang_something(core::duration lasts);
  void leave_daemon(bool hides);
  void end_what_is_found();
  void cut_off(core::duration lasts);
  void sleep_through_deadline();
  void fail_at_next_renewal(core::duration lasts);
  void die_at_next_start(core::duration lasts);
  void hang_at_next_start();

  stage& stage_;
  const pod_machine& pod_;
  world& world_;
  agent_hooks agent_hooks_;
  modelled_processes processes_;
  guard_judge judge_;
  guard_machine on_;
  std::unique_ptr<modelled_guard> guard_;  ///< null until `open`
  std::shared_ptr<agent_process> agent_;   ///< null: there is none
  bool away_ = false;                      ///< the whole pod
  bool guard_comes_ = false;               ///< another one is about to start
  bool agent_comes_ = false;
  bool container_comes_ = false;
  bool dies_when_found_ = false;  ///< its workload, when the next agent begins
  core::duration agent_away_{};   ///< time from the end of this agent to the next one
  world_time told_to_end_at_ = sim::world_never;
  written_run record_;            ///< of the last run
  bool has_record_ = false;       ///< runs write it
  bool leaves_the_rest_ = false;  ///< the next run begins although something of this one is left
};

}  // namespace tenure::shell
