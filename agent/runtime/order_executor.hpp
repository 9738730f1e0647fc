#pragma once

#include <expected>
#include <functional>
#include <optional>

#include "api/control.hpp"
#include "core/member_order.hpp"
#include "runtime/election_driver.hpp"
#include "runtime/order_relay.hpp"
#include "runtime/orders.hpp"
#include "runtime/reporter.hpp"
#include "settings/agent.hpp"
#include "stores/store.hpp"

namespace tenure::runtime {

/// Carries out orders: on the elections of this agent or, through the store, on those of the
/// member's agent that must obey.
///
/// On the election thread only, except `give`.
class order_executor {
 public:
  struct parts {
    base::event_loop& loop;
    const settings::agent& settings;
    log::logger& to;
    election_driver& driver;
    reporter& reports;
    snapshots& shown;
  };
  explicit order_executor(const parts& with);
  order_executor(const order_executor&) = delete;
  order_executor& operator=(const order_executor&) = delete;

  /// `api::controller`. Thread-safe.
  void give(core::election_index which, core::order what, api::control_handler done) {
    inbox_.give(which, std::move(what), std::move(done));
  }

  /// Orders of other agents arrive through this store.
  void begin(stores::store& through);
  /// The watch shows these orders.
  void seen(core::election_index which, const std::vector<core::left_order>& orders);
  /// The agent is giving its leases up; from now on it refuses all orders.
  void stop() { stopping_ = true; }
  /// Answers waiting clients that the agent is stopping. Call before the store is closed.
  void close();

 private:
  void ordered(core::election_index which, core::order what, api::control_handler done);
  void accept_versions(core::election_index which, api::control_handler done);
  void obey(core::election_index which, const core::left_order& what);
  [[nodiscard]] std::expected<core::left_order, api::control_refusal> addressed_to(
      core::election_index which, core::order what) const;
  [[nodiscard]] std::optional<api::control_refusal> objection_to(
      core::election_index which, const core::left_order& what) const;
  [[nodiscard]] std::optional<api::control_refusal> objection_to_smaller_versions(
      core::election_index which) const;
  [[nodiscard]] bool may_act(core::election_index which) const;
  [[nodiscard]] const core::election& election(core::election_index which) const {
    return with_.driver.elections().at(which);
  }

  parts with_;
  orders inbox_;
  order_relay relay_;
  stores::store* store_ = nullptr;
  bool stopping_ = false;
  bool closed_ = false;
};

}  // namespace tenure::runtime
