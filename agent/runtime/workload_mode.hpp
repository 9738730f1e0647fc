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

/// The ways in which the workload of an agent is owned: the agent's own command, processes that
/// somebody else starts, a command behind a guard's socket, hooks, or nobody but those who read the
/// API. Which one is decided once, at the start.
namespace tenure::runtime {

/// What a mode asks of its agent.
class workload_host {
 public:
  virtual ~workload_host() = default;
  /// It is known what the agents before have left behind: the store may be opened. Called again,
  /// does nothing.
  virtual void open_store(const workload::guard_ready& left) = 0;
  [[nodiscard]] virtual bool store_is_open() const = 0;
  /// Opens the listeners, if that was not done. False, and the log says why, if that fails.
  virtual bool serve() = 0;
  /// The health checks are to hear that the workload of an active term runs.
  virtual void workload_started() = 0;
  /// `signo`: of the order to end.
  virtual void shut_down(int signo, core::loss_reason why) = 0;
  [[nodiscard]] virtual bool is_shutting_down() const = 0;
  /// At once, whatever is held.
  virtual void end(int status) = 0;
  /// True from `end` on: nothing that comes later matters.
  [[nodiscard]] virtual bool has_ended() const = 0;
};

/// What all modes work with. It outlives them.
struct mode_parts {
  const settings::agent& settings;
  const std::string& session;  ///< of this agent
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
  /// The elections are to be turned by this driver. Before `open`.
  void drive_by(election_driver& with) { driver_ = &with; }

  /// Finds who starts and stops the workload, and has the store opened then. False, and the log
  /// says why, if the agent has to end.
  virtual bool open() = 0;

  /// True if the elections start and stop a workload.
  [[nodiscard]] virtual bool owns_workload() const { return true; }
  /// True if the agent ends with its workload, and the elections with it.
  [[nodiscard]] virtual bool ends_with_workload() const { return false; }
  /// True if a guard kills the workload.
  [[nodiscard]] virtual bool has_guard() const { return false; }
  /// False while nobody is there who could start a workload.
  [[nodiscard]] virtual bool is_ready() const { return true; }
  /// True if something stopped nobody, and the lease has to run out by itself.
  [[nodiscard]] virtual bool is_lapsing() const { return false; }
  /// True if the agent is to exit as its workload did, once its elections are over.
  [[nodiscard]] virtual bool exits_as_workload(core::loss_reason) const { return false; }

  /// The agent was told to end by SIGTERM. True if it leaves its workload to the next agent: then
  /// the mode ends it when that can be done.
  [[nodiscard]] virtual bool leaves() { return false; }
  /// The agent gives its leases up, in order; with what signal the workload is to be stopped.
  virtual void give_up(int stop_signal) = 0;

  /// How the workload is stopped by this order, for the log.
  [[nodiscard]] virtual term_end way_to_stop(const core::command::stop_workload& what) const = 0;
  /// The phase of an election has changed.
  virtual void phase_changed(const core::command::transition& what) = 0;

  /// The agent ends with this status, or as its workload did. Nothing is asked for any more but
  /// `close`.
  virtual void bye(std::optional<int> status) = 0;
  /// Lets go of who owns the workload. Not from inside one of its calls.
  virtual void close() = 0;

 protected:
  [[nodiscard]] election_driver& driver() { return *driver_; }
  [[nodiscard]] const core::lease_group& session() const { return driver_->session(); }

 private:
  election_driver* driver_ = nullptr;
};

/// What an agent before has left, as the election is told of it.
[[nodiscard]] core::event::workload_found event_of(const workload::found_workload& what);

/// The mode that these settings ask for. `has_guard`: this process was started by a guard.
std::unique_ptr<workload_mode> make_workload_mode(const mode_parts& with, bool has_guard);

/// Those who read the API are the workload: nobody starts or stops it.
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

/// The mode of an election whose workload has an owner: what all of these have in common.
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
  /// The only election of an agent whose workload has an owner.
  static constexpr core::election_index owned{0};

  /// The signal that stops the workload; 0: none does.
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
  /// What the workload may be told before there is a term.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] core::phase phase() const { return session().at(owned).view().phase; }

  mode_parts with_;
  std::unique_ptr<workload::workload_owner> owner_;  ///< null: it has not been found yet
  bool ran_ = false;                                 ///< a workload, in the term that is ending
  bool stop_ordered_ = false;                        ///< of what runs
  bool is_killed_ = false;  ///< without its guard, as that is dead or hangs

 private:
  int stop_signal_ = with_.settings.stop_signal;
};

}  // namespace tenure::runtime
