#pragma once

#include <string>

#include "stores/kubernetes/shared_state.hpp"

namespace tenure::stores::kubernetes {

/// Orders that agents leave for each other: one Lease per order, which nobody ever holds, with the
/// order in an annotation. The first to replace the order that it has seen answers it; its sender
/// deletes it. Members show it for a few seconds only, and delete what a sender that died has left
/// behind.
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
  void read_back(core::election_index which, const std::string& name, const std::string& expected,
                 core::time_point deadline, handler<order_outcome> done);
  void drop_again(core::election_index which, const std::string& id, core::time_point deadline,
                  handler<order_outcome> done, int tries);

  shared_state& shared_;
  std::string us_;  ///< identifies this run in its answers
};

}  // namespace tenure::stores::kubernetes
