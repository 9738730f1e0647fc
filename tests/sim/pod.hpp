#pragma once

#include <memory>
#include <vector>

#include "agent.hpp"
#include "guarded_workload.hpp"
#include "network.hpp"
#include "stage.hpp"
#include "store.hpp"

namespace tenure::sim {

/// One machine's share of the world: a clock, an agent, and its guards with their workloads.
class pod {
 public:
  pod(stage& s, network& n, std::uint8_t number);

  /// Something that is meant for this pod. A stopped process gets to it when it goes on.
  void handle(const entry& e, const store& kept);

  // --- faults --------------------------------------------------------------------------------

  /// The agent is killed. Its guard keeps what runs, and starts another agent with the same
  /// session.
  void crash();
  /// SIGSTOP and SIGCONT for the agent alone.
  void pause();
  void go_on();
  /// The whole pod stands still, and goes on.
  void freeze();
  void thaw();
  /// All is gone at once; a pod with a fresh identity follows after `delay`.
  void replace(core::duration delay);
  void workload_exits(std::size_t election) { guards_[election].exits(); }
  /// SIGTERM for the agent; the pod is replaced when it has ended.
  void shut_down();

  /// From the API or a health check; a stopped agent does not hear it.
  void tell(std::size_t election, const core::election_event& what, core::loss_reason why);

  /// True if its agent should hold a slot when all is well.
  [[nodiscard]] bool should_hold() const { return agent_ && agent_->campaigns(); }
  /// True if it holds, as far as anybody can see.
  [[nodiscard]] bool holds(std::size_t election) const;
  [[nodiscard]] bool ending() const { return ending_; }
  /// True once, after its agent has done what faults lie in wait for.
  bool take_tempting();

 private:
  void agent_handles(const entry& e);
  void guard_handles(const entry& e, const store& kept);
  void start(const entry& e);
  void end_agent();
  /// True if a new agent can go on with what an earlier one has started.
  [[nodiscard]] bool adopts() const { return guards_.size() == 1; }
  void look_at_news();
  void catch_up();
  void tell_agent_what_time_it_is();
  void start_after(core::duration delay);

  stage& stage_;
  network& network_;
  std::uint8_t number_;
  machine_clock clock_;
  std::vector<guarded_workload> guards_;
  std::unique_ptr<agent> agent_;
  std::vector<entry> deferred_;  ///< what has reached a stopped process
  std::uint16_t identity_ = 0;
  std::uint32_t process_ = 0;  ///< counts agents; stamps what is meant for one of them
  bool paused_ = false;
  bool frozen_ = false;
  bool ending_ = false;
  core::time_point frozen_at_{};
  core::duration slept_{};    ///< since the agent last looked
  bool crashed_ = false;      ///< and its guard, which lives, starts the next one
  bool has_session_ = false;  ///< the guard knows one of an earlier agent
  bool tempting_ = false;
};

}  // namespace tenure::sim
