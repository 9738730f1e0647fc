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

/// Orders between agents: one that was asked for what another member has to do leaves it in the
/// store, and waits for what that member's agent says there.
///
/// On the election thread only.
class order_relay {
 public:
  /// Why this member does not obey; nothing if it does.
  using judge = std::function<std::optional<api::control_refusal>(core::election_index,
                                                                  const core::left_order&)>;
  /// Obeys. Called for an order that was accepted, once.
  using carrier = std::function<void(core::election_index, const core::left_order&)>;

  /// `lasts`: how long an order is waited for.
  order_relay(base::event_loop& on, std::string identity, judge judged, carrier carry_out,
              core::duration lasts = stores::order_lasts);

  /// From now on. Before, and after `close`, nothing is given or taken.
  void begin(stores::store& through) { store_ = &through; }

  /// Leaves the order for `what.wanted.member`; its id is given here. `done` is called once, by the
  /// end of the time that an order lasts.
  void give(core::election_index which, core::left_order what, api::control_handler done);

  /// The watch shows these.
  void seen(core::election_index which, const std::vector<core::left_order>& orders);

  /// Answers those that wait that the agent ends. Before the store is closed.
  void close();

 private:
  struct waiting {
    explicit waiting(base::event_loop& on) : patience(on) {}

    core::election_index which{};
    std::string member;
    api::control_handler done;
    base::timer patience;
  };

  /// One of ours that was answered, or is about to be.
  struct taken {
    core::left_order what;
    bool in_doubt = false;   ///< nobody has told us whether the answer was taken
    bool shows_yes = false;  ///< the watch shows that it was accepted
  };

  void take(core::election_index which, const core::left_order& what);
  void obey_if_ours(core::election_index which, const std::string& id);
  void finish(const std::string& id, api::control_result with);
  void withdraw(const std::string& id);

  base::event_loop& loop_;
  std::string identity_;
  judge judge_;
  carrier carry_out_;
  core::duration lasts_;
  stores::store* store_ = nullptr;
  std::map<std::string, std::unique_ptr<waiting>> waiting_;  ///< by the ids of the orders
  /// Of each election by their ids, as long as its watch shows them.
  std::map<core::election_index, std::map<std::string, taken>> taken_;
};

}  // namespace tenure::runtime
