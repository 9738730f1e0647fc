#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "stores/etcd/cluster.hpp"
#include "stores/etcd/layout.hpp"
#include "stores/store.hpp"

namespace tenure::stores::etcd {

/// A lease as its last acknowledged grant or keepalive has left it.
struct kept_lease {
  std::int64_t id = 0;
  core::time_point sent_at{};  ///< of that request
  core::duration ttl{};        ///< as granted
  /// Of the answer to the keepalive. A leader that has been replaced may have answered it, so this
  /// is compared with what the quorum says: `session::believe`. Nothing: it was just granted, by
  /// the quorum, and each later leader extends it.
  std::optional<std::uint64_t> raft_term{};
};

/// Nothing: the lease is gone, by etcd's own word. An error: unknown, and why.
using kept_or_failure = std::expected<std::optional<kept_lease>, std::string>;

/// Our lease: one for all elections that are held, made when the first one is campaigned for.
///
/// Nothing is ever revoked. A lease that no term uses is not renewed, and ends by itself after a
/// TTL at most; until then the next campaign may use it. So no revocation can arrive late, and end
/// a lease that is in use again.
///
/// Used on its loop only; handlers are called through `cluster::call`, never from within.
class lease_keeper {
 public:
  using lease_handler = handler<std::expected<kept_lease, unknown>>;

  lease_keeper(base::event_loop& on, cluster& through, lease_ids& ids, core::duration ttl);

  /// A lease to campaign with, which has just been made or renewed. Those who ask while it is on
  /// its way share it.
  void obtain(core::time_point deadline, lease_handler done);

  /// Renews a lease by one request.
  void keep(std::int64_t lease, core::time_point deadline, handler<kept_or_failure> done);

  /// Nobody knows whether its last keepalive was heard: the next campaign renews it first.
  void doubt(std::int64_t lease);

  /// It is gone: the next campaign gets another one.
  void forget(std::int64_t lease);

 private:
  void make(core::time_point deadline);
  void made(std::int64_t lease, core::time_point deadline, reply_or_failure what);
  void answer(const std::expected<kept_lease, unknown>& outcome);

  base::event_loop& loop_;
  cluster& cluster_;
  lease_ids& ids_;
  core::duration ttl_;
  std::optional<kept_lease> present_;
  bool doubted_ = false;                ///< the present one
  std::vector<lease_handler> waiting_;  ///< for a lease that has been asked for
};

}  // namespace tenure::stores::etcd
