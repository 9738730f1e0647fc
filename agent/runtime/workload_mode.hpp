#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/lease_group.hpp"
#include "metrics/instruments.hpp"
#include "runtime/election_driver.hpp"
#include "runtime/election_workload.hpp"
#include "runtime/lines.hpp"
#include "runtime/snapshots.hpp"
#include "runtime/surroundings.hpp"
#include "settings/agent.hpp"
#include "workload/workload_owner.hpp"

/// Who owns the workload of an agent: the agent's own command, processes that somebody else starts,
/// a command behind a guard's socket, hooks, or nobody but the API's clients. Decided once, at the
/// start.
namespace tenure::runtime {

/// What a mode needs from its agent.
class workload_host {
 public:
  virtual ~workload_host() = default;
  /// What earlier agents have left behind is known: the store may be opened. A second call does
  /// nothing.
  virtual void open_store(const workload::guard_ready& left) = 0;
  [[nodiscard]] virtual bool store_is_open() const = 0;
  /// Opens the listeners, unless they are open. False, after logging why, if that fails.
  virtual bool serve() = 0;
  /// Tells the health checks that the workload of an active term runs.
  virtual void workload_started() = 0;
  /// One that was found running vouches for this member's health no longer. Also before the
  /// elections begin.
  virtual void workload_ended() = 0;
  /// `signo`: the signal that asks the agent to end.
  virtual void shut_down(int signo, core::loss_reason why) = 0;
  [[nodiscard]] virtual bool is_shutting_down() const = 0;
  /// Ends at once, even if a lease is held.
  virtual void end(int status) = 0;
  /// True after `end`: later events do not matter.
  [[nodiscard]] virtual bool has_ended() const = 0;
};

/// What all modes use. Outlives them.
struct mode_parts {
  const settings::agent& settings;
  const std::string& session;  ///< this agent's session
  const settings::election& election;
  surroundings& machine;
  log::logger& to;
  metrics::instruments& instruments;
  snapshots& shown;
  workload_host& host;
};

/// One way of owning the workload. On the election thread only.
class workload_mode : public election_workload {
 public:
  /// The driver of the elections. Call before `open`.
  void drive_by(election_driver& with) { driver_ = &with; }

  /// Finds the owner of the workload, and then has the store opened. False, after logging why, if
  /// the agent must end.
  virtual bool open() = 0;

  /// True if the elections start and stop a workload.
  [[nodiscard]] virtual bool owns_workload() const { return true; }
  /// True if the agent ends with its workload, and the elections with it.
  [[nodiscard]] virtual bool ends_with_workload() const { return false; }
  /// True if a guard kills the workload.
  [[nodiscard]] virtual bool has_guard() const { return false; }
  /// False while nobody could start a workload.
  [[nodiscard]] virtual bool is_ready() const { return true; }
  /// True if the workload could not be stopped, and the lease must run out by itself.
  [[nodiscard]] virtual bool is_lapsing() const { return false; }
  /// True if the agent exits with its workload's status once its elections are over.
  [[nodiscard]] virtual bool exits_as_workload(core::loss_reason) const { return false; }

  /// The agent got SIGTERM. True if it leaves its workload to the next agent: then the mode ends
  /// the agent when possible.
  [[nodiscard]] virtual bool leaves() { return false; }
  /// The agent gives its leases up in order; `stop_signal` stops the workload.
  virtual void give_up(int stop_signal) = 0;

  /// How this order stops the workload, for the log.
  [[nodiscard]] virtual term_end way_to_stop(const core::command::stop_workload& what) const = 0;
  /// The phase of an election has changed.
  virtual void phase_changed(const core::command::transition& what) = 0;

  /// The agent ends with this status, or with its workload's. Only `close` may be called
  /// afterwards.
  virtual void bye(std::optional<int> status) = 0;
  /// Lets go of the workload's owner. Not from within one of its calls.
  virtual void close() = 0;

 protected:
  [[nodiscard]] election_driver& driver() { return *driver_; }
  [[nodiscard]] const core::lease_group& elections() const { return driver_->elections(); }

 private:
  election_driver* driver_ = nullptr;
};

/// An earlier agent's workload, as an event of the election.
[[nodiscard]] core::event::workload_found event_of(const workload::found_workload& what);

/// The mode that these settings require. `started_by_guard`: a guard started this agent.
std::unique_ptr<workload_mode> make_workload_mode(const mode_parts& with, bool started_by_guard);

/// The API's clients are the workload: nobody starts or stops it.
class reader_mode final : public workload_mode {
 public:
  explicit reader_mode(workload_host& host) : host_(host) {}

  bool open() override;
  [[nodiscard]] bool owns_workload() const override { return false; }
  void granted(core::version) override {}
  void show(const core::lease_group&) override {}
  void arm(const core::command::arm&) override {}
  void start(core::election_index, const core::election_view&) override {}
  void stop(const core::command::stop_workload&) override {}
  void forget_grants(const core::command::forget_grants&) override {}
  void renewed() override {}
  void give_up(int) override {}
  [[nodiscard]] term_end way_to_stop(const core::command::stop_workload&) const override {
    return {};
  }
  void phase_changed(const core::command::transition&) override {}
  void bye(std::optional<int>) override {}
  void close() override {}

 private:
  workload_host& host_;
};

/// What all modes with an owner of the workload have in common.
class owned_mode : public workload_mode {
 public:
  explicit owned_mode(const mode_parts& with) : with_(with) {}

  void granted(core::version version) override;
  void show(const core::lease_group& what) override;
  void arm(const core::command::arm& what) override;
  void start(core::election_index which, const core::election_view& view) override;
  void stop(const core::command::stop_workload& what) override;
  void forget_grants(const core::command::forget_grants& what) override;
  void renewed() override {}
  void give_up(int stop_signal) override;
  [[nodiscard]] term_end way_to_stop(const core::command::stop_workload& what) const override;
  void phase_changed(const core::command::transition& what) override;
  void close() override;

 protected:
  /// The only election of an agent with an owner of the workload.
  static constexpr core::election_index owned{0};

  /// The signal that stops the workload; 0: no signal does.
  [[nodiscard]] virtual int stop_signal() const { return stop_signal_; }
  /// The workload of this term was started by a guard, or told by hooks.
  void runs(core::version version);
  void feed(const core::election_event& what) { driver().feed(owned, what); }
  void say_exit(const workload::workload_exited& what);
  /// The hooks could not tell the workload that it is active.
  void not_told(const std::string& why);
  [[nodiscard]] log::speaker who() const;
  [[nodiscard]] core::time_point now() const { return with_.machine.loop().now(); }
  [[nodiscard]] std::vector<std::string> environment(const core::election_view& view) const;
  /// What the workload may know before there is a term.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] core::phase phase() const { return elections().at(owned).view().phase; }

  mode_parts with_;
  std::unique_ptr<workload::workload_owner> owner_;  ///< null: not found yet
  bool ran_ = false;           ///< a workload has run in the term that is ending
  bool stop_ordered_ = false;  ///< for the workload that runs
  bool is_killed_ = false;     ///< without its guard, which is dead or hangs

 private:
  int stop_signal_ = with_.settings.stop_signal;
};

}  // namespace tenure::runtime
