#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/control.hpp"
#include "base/event_loop.hpp"
#include "core/lease_group.hpp"
#include "core/member_order.hpp"
#include "stores/store.hpp"

namespace tenure::runtime {

/// Orders between agents: an agent that gets an order for another member leaves it in the store,
/// and waits there for the answer of that member's agent.
///
/// On the election thread only.
class order_relay {
 public:
  /// Why this member refuses; nothing if it obeys.
  using judge = std::function<std::optional<api::control_refusal>(core::election_index,
                                                                  const core::left_order&)>;
  /// Obeys. Called once for an accepted order.
  using carrier = std::function<void(core::election_index, const core::left_order&)>;

  /// `lasts`: how long an order waits to be taken.
  order_relay(base::event_loop& on, std::string identity, judge judged, carrier carry_out,
              core::duration lasts = stores::order_lasts);

  /// Starts. Before this, and after `close`, no orders are given or taken.
  void begin(stores::store& through) { store_ = &through; }

  /// Leaves the order for `what.wanted.member`, with an id that this assigns. Calls `done` once, by
  /// the end of the order's time.
  void give(core::election_index which, core::left_order what, api::control_handler done);

  /// The watch shows these orders.
  void seen(core::election_index which, const std::vector<core::left_order>& orders);

  /// Answers waiting clients that the agent is stopping. Call before the store is closed.
  void close();

 private:
  struct waiting {
    explicit waiting(base::event_loop& on) : patience(on) {}

    core::election_index which{};
    std::string member;
    api::control_handler done;
    base::timer patience;
  };

  /// An order for us that was answered, or is about to be.
  struct taken {
    core::left_order what;
    bool obeyed = false;
  };
  using taken_ptr = std::shared_ptr<taken>;

  void take(core::election_index which, const core::left_order& what);
  void obey(core::election_index which, taken_ptr one);
  void finish(const std::string& id, api::control_result with);
  void withdraw(const std::string& id);

  base::event_loop& loop_;
  std::string identity_;
  judge judge_;
  carrier carry_out_;
  core::duration lasts_;
  stores::store* store_ = nullptr;
  std::map<std::string, std::unique_ptr<waiting>> waiting_;  ///< by order id
  /// Per election and order id, while the watch shows the orders.
  std::map<core::election_index, std::map<std::string, taken_ptr>> taken_;
};

}  // namespace tenure::runtime
