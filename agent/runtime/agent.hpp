#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "api/snapshot.hpp"
#include "core/lease_group.hpp"
#include "kube/announcer.hpp"
#include "kube/api_server.hpp"
#include "kube/container_witness.hpp"
#include "log/logger.hpp"
#include "log/repeats.hpp"
#include "metrics/instruments.hpp"
#include "runtime/agent_options.hpp"
#include "runtime/election_driver.hpp"
#include "runtime/fresh_reads.hpp"
#include "runtime/order_executor.hpp"
#include "runtime/reporter.hpp"
#include "runtime/snapshots.hpp"
#include "runtime/surroundings.hpp"
#include "runtime/workload_health.hpp"
#include "runtime/workload_mode.hpp"
#include "stores/store.hpp"

namespace tenure::runtime {

/// An agent from start to end: finds its workload, opens the listeners and the store, lets the
/// driver turn the elections, and ends when these are over.
///
/// Everything happens on the loop of `on`, which outlives the agent but is not turned after it. The
/// process, its signals and its threads belong to `run_agent`.
class agent final : private election_host, private workload_host {
 public:
  /// Calls `ended` once, when only posted work is left.
  agent(agent_options options, surroundings& on, log::logger& to,
        std::function<void(int status)> ended);
  ~agent() override;
  agent(const agent&) = delete;
  agent& operator=(const agent&) = delete;

  /// Call once.
  void start();

  /// The process got this signal, which asks it to end.
  void told_to_end(int signo) { shut_down(signo, core::loss_reason::shutdown); }

  [[nodiscard]] const core::lease_group& elections() const { return driver_.elections(); }

 private:
  void try_store();
  void open_channel(stores::setup& with);
  [[nodiscard]] std::expected<void, std::string> listen();
  [[nodiscard]] bool runs_found() const;
  void store_failed_to_open(const stores::open_error& why);
  void store_opened(std::expected<stores::description, stores::open_error> what);
  void store_reached(const stores::description& what);
  void begin_elections();
  void meet_kubernetes();
  void end_term(core::election_index which, const core::holder& whose);
  [[nodiscard]] kube::traffic_wish wanted_traffic() const;
  void end_in_order(int status);
  void end(int status, bool as_workload);

  // For the elections.
  void phase_changed(core::election_index which, const core::command::transition& what) override;
  void view_changed(core::election_index which) override;
  void shown(core::election_index which, const std::vector<core::holder>& holders,
             const std::vector<core::left_order>& orders) override;
  void lost_sight(core::election_index which) override;
  void finished(core::election_index which, core::loss_reason why) override;

  // For the workload's mode.
  void open_store(const workload::guard_ready& left) override;
  [[nodiscard]] bool store_is_open() const override { return store_ != nullptr; }
  bool serve() override;
  void workload_started() override;
  void workload_ended() override;
  void shut_down(int signo, core::loss_reason why) override;
  [[nodiscard]] bool is_shutting_down() const override { return shutting_down_; }
  void end(int status) override { end(status, false); }
  [[nodiscard]] bool has_ended() const override { return ended_; }

  agent_options options_;
  surroundings& machine_;
  log::logger& log_;
  std::function<void(int)> on_end_;
  metrics::instruments instruments_;
  api::published published_;
  snapshots shown_;
  std::unique_ptr<workload_mode> workload_;
  reporter reports_;
  election_driver driver_;
  fresh_reads fresh_reads_;
  order_executor orders_;
  std::unique_ptr<workload_health> health_;
  std::unique_ptr<peer::channel> channel_;  ///< null: it has none
  std::unique_ptr<stores::store> store_;
  std::unique_ptr<kube::api_server> cluster_;         ///< null: Kubernetes is not asked
  std::unique_ptr<kube::announcer> announcer_;        ///< null: Kubernetes is told nothing
  std::unique_ptr<kube::container_witness> witness_;  ///< null: nobody says how containers end

  base::timer opening_;               ///< the next attempt to open the store after a failure
  base::timer listening_;             ///< the next attempt to listen
  std::string cannot_listen_;         ///< why the last one failed
  log::repeats failures_;             ///< how often these attempts have failed
  workload::guard_ready left_;        ///< by earlier agents
  std::int64_t started_unix_ms_ = 0;  ///< by the wall clock
  std::uint32_t unfinished_ = 0;      ///< elections that have not ended
  bool store_reached_ = false;
  bool shutting_down_ = false;
  bool ended_ = false;
  std::optional<int> status_;  ///< set by the first reason to end
};

}  // namespace tenure::runtime
