#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/election.hpp"
#include "core/guard.hpp"
#include "stage.hpp"

namespace tenure::sim {

/// What an agent may tell its guard.
enum class order : std::uint8_t { armed, start, stop };

/// What a guard may tell its agent.
enum class report : std::uint8_t { started, exited };

/// The guard process of one election, its shared page, its socket, and the workload it owns.
class guarded_workload {
 public:
  guarded_workload(stage& s, machine_clock clock, std::uint8_t pod, std::uint8_t election)
      : stage_(s), clock_(clock), pod_(pod), election_(election) {}

  // --- the agent's side ------------------------------------------------------------------------

  /// Writes the page; the guard's timer reads it.
  void write_page(core::version version, core::time_point stop_at, core::time_point kill_at) {
    page_term_ = version;
    page_stop_at_ = stop_at;
    page_kill_at_ = kill_at;
  }
  /// Notes in the page what the session was granted, for the next agent.
  void note_grant(core::version version) { granted_ = std::max(granted_, version); }
  void forget_grants(core::version before) { granted_ = std::min(granted_, before); }
  [[nodiscard]] core::version granted() const { return granted_; }
  /// Sends an order over the socket, which keeps their sequence.
  void tell(order what, core::time_point until = core::never);
  /// True if a workload runs or an order to start one is under way.
  [[nodiscard]] bool may_run() const { return alive_ || starts_under_way_ > 0; }
  [[nodiscard]] bool alive() const { return alive_; }
  /// As the last agent has written it.
  [[nodiscard]] core::time_point must_stop_at() const { return page_stop_at_; }
  /// True until the guard has read everything that the last agent has sent.
  [[nodiscard]] bool has_unread_orders() const { return unread_orders_ > 0; }
  /// What a new agent hears when it connects; nothing if nothing runs.
  [[nodiscard]] std::optional<core::event::workload_found> left_behind() const;

  // --- what happens ------------------------------------------------------------------------------

  /// `agent`: the process that reports go to.
  void told(const entry& e, std::uint32_t agent);
  void timer(std::uint32_t agent);
  void died(const entry& e, std::uint32_t agent);
  void writes(const entry& e, bool is_holder);
  [[nodiscard]] core::version version() const { return guard_.version(); }
  /// The workload ends by itself.
  void exits();
  /// The container is gone at once, with all that was in it.
  void destroyed();
  /// After a freeze: the guard's timer fires when it is scheduled again, and the workload has
  /// gone on writing before that.
  void thawed();

 private:
  void carry_out(const core::guard_actions& todo, std::uint32_t agent);
  void begin(std::uint32_t agent);
  void write_soon();
  void kill();
  void terminate();
  void die_in(core::duration delay);
  void report_to(std::uint32_t agent, report what);
  void set_timer();
  [[nodiscard]] core::time_point local_now() const { return clock_.local(stage_.now); }
  [[nodiscard]] entry to(happening what) const {
    return {.what = what, .pod = pod_, .election = election_};
  }

  stage& stage_;
  machine_clock clock_;
  std::uint8_t pod_;
  std::uint8_t election_;

  core::guard guard_;
  core::time_point page_stop_at_{};
  core::time_point page_kill_at_{};
  core::version page_term_ = core::no_version;
  core::version granted_ = core::no_version;
  world_time timer_at_ = world_never;
  world_time last_order_{};
  world_time last_report_{};
  std::uint32_t unread_orders_ = 0;
  std::uint32_t starts_under_way_ = 0;
  std::uint32_t container_ = 0;  ///< counts incarnations of the guard

  // The workload.
  bool alive_ = false;
  bool told_to_stop_ = false;
  bool ignores_term_ = false;
  std::uint32_t instance_ = 0;
  std::uint32_t writer_ = 0;     ///< the chain of writes that is not out of date
  std::uint32_t survivors_ = 0;  ///< forked just before a SIGKILL: each costs one more
  world_time dies_at_ = world_never;
  core::duration kill_takes_{};
};

}  // namespace tenure::sim
