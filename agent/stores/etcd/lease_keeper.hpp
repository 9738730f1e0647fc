#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "core/clock.hpp"
#include "stores/etcd/cluster.hpp"
#include "stores/etcd/layout.hpp"
#include "stores/joined_request.hpp"
#include "stores/store.hpp"

namespace tenure::stores::etcd {

/// A lease as the last acknowledged grant or keepalive left it.
struct kept_lease {
  std::int64_t id = 0;
  core::time_point sent_at{};  ///< when that request left
  core::duration ttl{};        ///< as granted
  /// The raft term of the answer to the keepalive. A replaced leader may have answered it, so
  /// `session::believe` compares this with what the quorum says. Nothing after a grant: the quorum
  /// has acknowledged that, and each later leader extends the lease.
  std::optional<std::uint64_t> raft_term{};
};

/// Nothing: etcd says that the lease is gone. An error: unknown, and why.
using kept_or_failure = std::expected<std::optional<kept_lease>, std::string>;

/// Renews a lease by one request.
void keep_lease(cluster& through, std::int64_t lease, core::time_point deadline,
                handler<kept_or_failure> done);

/// Makes the lease of this id, which no other run has: if etcd says that it exists, an earlier try
/// of ours came through, whose reply was lost, and a keepalive tells its TTL.
void make_lease(cluster& through, std::int64_t lease, core::duration ttl, core::time_point deadline,
                handler<std::expected<kept_lease, unknown>> done, priority as = priority::other);

/// Our lease: one for all elections that are held, made for the first campaign.
///
/// Nothing is ever revoked. A lease that no term uses is not renewed and ends by itself within a
/// TTL; until then the next campaign may use it. So no late revocation can end a lease that is in
/// use again.
///
/// Used on its loop only. Handlers are called through `cluster::call`, never from within the call.
class lease_keeper {
 public:
  using lease_handler = handler<std::expected<kept_lease, unknown>>;

  lease_keeper(base::event_loop& on, cluster& through, lease_ids& ids, core::duration ttl);

  /// Obtains a lease for a campaign that was made or renewed just now. Callers that ask while one
  /// is under way share it, each until its own deadline.
  void obtain(core::time_point deadline, lease_handler done);

  /// Renews the lease of a term by one request. Campaigns may use it, too, if there is no other.
  void keep(std::int64_t lease, core::time_point deadline, handler<kept_or_failure> done);

  /// Call when a keepalive may not have been heard: the next campaign renews the lease first.
  void doubt(std::int64_t lease);

  /// Call when the lease is gone: the next campaign gets another one.
  void forget(std::int64_t lease);

  void close() { obtained_.close(); }

 private:
  void ask(core::time_point deadline);
  void make(core::time_point deadline);

  base::event_loop& loop_;
  cluster& cluster_;
  lease_ids& ids_;
  core::duration ttl_;
  std::optional<kept_lease> present_;
  bool doubted_ = false;  ///< the present lease
  joined_request<kept_lease> obtained_;
};

}  // namespace tenure::stores::etcd
