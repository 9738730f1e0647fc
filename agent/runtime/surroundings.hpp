#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/control.hpp"
#include "api/fresh_read.hpp"
#include "api/page_writer.hpp"
#include "api/snapshot.hpp"
#include "base/clock_reading.hpp"
#include "base/event_loop.hpp"
#include "guard/target.hpp"
#include "health/health_check.hpp"
#include "http/server/traffic.hpp"
#include "kube/api_server.hpp"
#include "log/log_line.hpp"
#include "peer/channel.hpp"
#include "settings/agent.hpp"
#include "settings/listen_address.hpp"
#include "stores/store.hpp"
#include "workload/guard_dialer.hpp"
#include "workload/hook.hpp"
#include "workload/run_record.hpp"
#include "workload/workload_owner.hpp"

namespace tenure::runtime {

/// What an agent wants from a guard.
struct guard_wish {
  std::string session;            ///< the agent's session
  bool session_is_bound = false;  ///< false: it adopts the session of the guard's earlier agents
  /// How to find a workload that the guard has not started; nothing: the guard starts it.
  std::optional<settings::target> foreign{};
  /// The format of the guard's own lines, and the fields after their messages.
  log::log_form form{};
  std::string fields{};
};

using guard_handler = std::function<void(const workload::guard_event&)>;

/// The agent's side of a guard, or why the other end is not a guard.
using guard_result = std::expected<std::unique_ptr<workload::workload_owner>, std::string>;

using run_record_result = std::expected<std::unique_ptr<workload::run_record>, workload::no_record>;

/// Connects to a guard that was found. Called once.
using guard_opener = std::move_only_function<guard_result(const guard_wish&, guard_handler)>;

/// Looks for the guard that waits for an agent; see workload::guard_dialer.
class guard_search {
 public:
  using handler = std::function<void(std::variant<guard_opener, workload::no_guard>)>;

  virtual ~guard_search() = default;
  virtual void start() = 0;
  virtual void start_later() = 0;
};

/// What the listeners need to know of the agent.
struct served_agent {
  api::published& published;
  api::page_writer metrics;
  http::traffic* api_traffic = nullptr;
  http::traffic* probe_traffic = nullptr;
  api::fresh_reader fresh;
  api::controller control;
  bool owns_a_process = false;  ///< the parent of this process runs the workload
  std::uint16_t told_api_port =
      0;                        ///< where the workload was told to find the previous agent; 0: none
  bool workload_found = false;  ///< and that workload still runs
};

/// The HTTP listeners of an agent.
class agent_listeners {
 public:
  virtual ~agent_listeners() = default;
  /// Opens all of them, or none, and says why. Call until it succeeds.
  virtual std::expected<void, std::string> open(served_agent what) = 0;
  [[nodiscard]] virtual bool is_open() const = 0;
  /// Nothing if the API listens on no port.
  [[nodiscard]] virtual std::optional<settings::listen_address> api_address() const = 0;
  /// Lets answers under way finish. A second call does nothing.
  virtual void stop() = 0;
};

/// What an agent needs from its machine: in production the kernel, in the simulator a model.
/// Belongs to the election thread.
class surroundings {
 public:
  virtual ~surroundings() = default;

  [[nodiscard]] virtual base::event_loop& loop() = 0;
  /// Thread-safe.
  [[nodiscard]] virtual base::clock_reading read_clocks() = 0;
  [[nodiscard]] virtual std::expected<std::unique_ptr<stores::store>, stores::open_error>
  make_store(stores::setup with) = 0;

  /// The guard that has started this process.
  [[nodiscard]] virtual guard_result connect_parent_guard(const guard_wish& how,
                                                          guard_handler on_event) = 0;
  /// What the runs of this member on this machine write down of themselves, one after another.
  /// Precondition: a guard has started this process.
  [[nodiscard]] virtual run_record_result open_run_record() = 0;
  /// Looks for a guard in the directory of the settings.
  [[nodiscard]] virtual std::unique_ptr<guard_search> search_guard(guard_search::handler found) = 0;

  [[nodiscard]] virtual workload::hooks make_hooks(const settings::hooks& with) = 0;
  [[nodiscard]] virtual std::vector<std::unique_ptr<health::health_check>> make_health_checks(
      const settings::health& with) = 0;

  /// The API server of the cluster in which this pod runs.
  [[nodiscard]] virtual std::expected<std::unique_ptr<kube::api_server>, std::string>
  make_kubernetes_api(const settings::pod_cluster& to) = 0;

  /// Opens the channel on which other members tell this agent a word; or why that fails.
  [[nodiscard]] virtual std::expected<std::unique_ptr<peer::channel>, std::string> open_channel(
      const settings::listen_address& at, peer::channel::handler heard) = 0;

  [[nodiscard]] virtual agent_listeners& asked_by() = 0;

  /// The start is complete: what only the start needs can be dropped.
  virtual void settled() = 0;
};

}  // namespace tenure::runtime
