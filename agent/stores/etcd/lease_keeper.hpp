#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
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
  core::time_point sent_at{};  ///< of that request
  core::duration ttl{};        ///< as granted
  std::uint64_t revision = 0;  ///< etcd's own, when it answered
  std::uint64_t raft_term = 0;
};

/// Nothing: the lease is gone, by etcd's own word. An error: unknown, and why.
using kept_or_failure = std::expected<std::optional<kept_lease>, std::string>;

/// Our leases: one for all elections that are held, made when the first one is campaigned for.
///
/// Used on its executor only; handlers are called through `cluster::call`, never from within.
class lease_keeper {
 public:
  lease_keeper(boost::asio::any_io_executor where, cluster& through, std::int64_t ttl_seconds);

  /// The lease to campaign with. If there is none, asks for one; it need not exist yet.
  std::int64_t ensure(lease_ids& ids, core::time_point deadline);

  /// True if etcd has confirmed that it made it.
  [[nodiscard]] bool confirmed(std::int64_t lease) const;

  /// Calls `done` once that is so, or when it is clear that it will not be.
  void when_confirmed(std::int64_t lease, handler<std::expected<kept_lease, unknown>> done);

  /// Renews it by one request. One that was dropped is in use again, unless its revocation has
  /// left already, which would end it under its next holder: that is an error.
  void keep(std::int64_t lease, core::time_point deadline, handler<kept_or_failure> done);

  /// It is gone: the next campaign gets another one.
  void forget(std::int64_t lease);

  /// Gives up the leases that are not in use, and revokes them a little later: not in the way of
  /// whoever campaigns for what we have just released.
  void drop_unless(const std::function<bool(std::int64_t)>& in_use);

  /// Cancels what is planned. Revokes nothing.
  void close();

 private:
  struct entry {
    std::optional<kept_lease> kept;  ///< nothing: asked for
    std::vector<handler<std::expected<kept_lease, unknown>>> waiting;
  };

  void granted(std::int64_t lease, core::time_point deadline, reply_or_failure what);
  void settle(std::int64_t lease, std::expected<kept_lease, unknown> outcome);
  void revoke_dropped();
  void revoke(std::int64_t lease);

  boost::asio::any_io_executor executor_;
  cluster& cluster_;
  std::int64_t ttl_seconds_;
  std::optional<std::int64_t> present_;
  std::map<std::int64_t, entry> leases_;
  std::vector<std::int64_t> dropped_;   ///< to be revoked
  std::vector<std::int64_t> given_up_;  ///< whose revocation has left and was not confirmed
  boost::asio::steady_timer revoking_;
};

}  // namespace tenure::stores::etcd
