#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>

#include "stores/etcd/session.hpp"
#include "stores/store.hpp"

namespace tenure::stores::etcd {

/// Orders that agents leave for each other: one key per order, on a lease that nobody renews, so
/// that etcd itself deletes orders that nobody takes. The first to replace the value that it has
/// seen answers the order.
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
  /// Reads etcd's reply to a transaction.
  using reader = std::move_only_function<order_outcome(const transaction_reply&)>;
  void carry_out(const transaction& what, core::time_point deadline, reader meaning,
                 handler<order_outcome> done);
  /// `done` gets the reply, or what has become of the order without one.
  void transact(const transaction& what, core::time_point deadline,
                handler<std::expected<transaction_reply, order_outcome>> done);
  void look_and_drop(const std::string& key, const std::string& id, core::time_point deadline,
                     handler<order_outcome> done, int tries);
  void drop_unchanged(const std::string& key, const std::string& id, const std::string& value,
                      core::time_point deadline, handler<order_outcome> done, int tries);

  session& session_;
  std::string us_;  ///< identifies this run in its answers
};

}  // namespace tenure::stores::etcd
