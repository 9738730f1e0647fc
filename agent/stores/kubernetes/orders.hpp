#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stores/kubernetes/shared_state.hpp"

namespace tenure::stores::kubernetes {

/// Orders that agents leave for each other: annotations of the election's first Lease, as RBAC can
/// limit by its name who may write it (decision 59). The first to replace the order that it has
/// seen answers it; its sender takes back one that nobody has answered. Members show an order for a
/// few seconds only, and who holds that Lease takes off those that are over.
///
/// Used on its loop only. No handler is called after the state is closed.
class orders {
 public:
  explicit orders(shared_state& of);

  void leave(core::election_index which, const core::left_order& what, core::time_point deadline,
             handler<order_outcome> done);
  void answer(core::election_index which, const std::string& id, core::order_reply reply,
              core::time_point deadline, handler<order_outcome> done);
  void drop(core::election_index which, const std::string& id, core::time_point deadline,
            handler<order_outcome> done);

 private:
  /// What to make of the annotation that is there (nothing: there is none), or the outcome.
  using decision = std::expected<std::optional<std::string>, order_outcome>;
  struct change;
  using change_ptr = std::shared_ptr<change>;

  change_ptr begin(core::election_index which, const std::string& id, core::time_point deadline,
                   handler<order_outcome> done,
                   std::function<decision(std::optional<std::string_view>)> decide);
  void look(const change_ptr& c);
  void write(const change_ptr& c);

  shared_state& shared_;
  std::string us_;  ///< identifies this run in its answers
};

}  // namespace tenure::stores::kubernetes
