#pragma once

#include <cstdint>
#include <string>

#include "stores/etcd/session.hpp"
#include "stores/store.hpp"

namespace tenure::stores::etcd {

/// Orders that agents leave for each other: a key each, on a lease that nobody renews, so that etcd
/// itself forgets what nobody takes. Answered by whoever first replaces the value that it has seen.
///
/// Used on its executor only. No handler is called after the session is closed.
class orders {
 public:
  explicit orders(session& of);

  void leave(core::election_index which, core::left_order what, core::time_point deadline,
             handler<order_outcome> done);
  void answer(core::election_index which, const std::string& id, core::order_reply reply,
              core::time_point deadline, handler<order_outcome> done);
  void drop(core::election_index which, const std::string& id, core::time_point deadline,
            handler<order_outcome> done);

 private:
  /// `own`: what the key has if this was carried out before; empty if it need not be told.
  void carry_out(const transaction& what, const std::string& own, core::time_point deadline,
                 handler<order_outcome> done);

  session& session_;
  std::string us_;  ///< in what we have answered
};

}  // namespace tenure::stores::etcd
