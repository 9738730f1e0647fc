#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/consul/shared_state.hpp"

namespace tenure::stores::consul {

/// Orders that agents leave for each other: one key per order, locked by a session that nobody
/// renews, so that Consul itself deletes orders that nobody takes: where it grants no shorter TTL,
/// after 10 s at the earliest and 20 at the latest. The first to replace the key that it has seen
/// answers the order.
///
/// Used on its loop only. No handler is called after the state is closed.
class orders {
 public:
  explicit orders(shared_state& of);

  void leave(core::election_index which, core::left_order what, core::time_point deadline,
             handler<order_outcome> done);
  void answer(core::election_index which, const std::string& id, core::order_reply reply,
              core::time_point deadline, handler<order_outcome> done);
  void drop(core::election_index which, const std::string& id, core::time_point deadline,
            handler<order_outcome> done);

 private:
  void write_once(const std::vector<operation>& what, const std::string& key,
                  std::function<bool(std::string_view)> is_ours, core::time_point deadline,
                  handler<order_outcome> done);
  void read_back(const std::string& key, std::function<bool(std::string_view)> is_ours,
                 core::time_point deadline, handler<order_outcome> done);
  void look_and_drop(const std::string& key, const std::string& id, core::time_point deadline,
                     handler<order_outcome> done, int tries);
  void drop_unchanged(const std::string& key, const std::string& id, std::uint64_t index,
                      core::time_point deadline, handler<order_outcome> done, int tries);

  shared_state& shared_;
  void leave_in(const std::string& session, core::election_index which,
                const core::left_order& what, core::time_point deadline,
                handler<order_outcome> done);

  std::string us_;  ///< identifies this run in its answers
  core::duration ttl_ =
      order_stays;  ///< how long the sessions of orders last, as far as Consul grants it
};

}  // namespace tenure::stores::consul
