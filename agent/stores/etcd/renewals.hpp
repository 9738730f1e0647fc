#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "stores/etcd/session.hpp"

namespace tenure::stores::etcd {

/// `renew`, as it goes with etcd: one keepalive for all terms, as they share a lease.
///
/// A keepalive says nothing about keys: an operator may have deleted one, and its event may be on
/// its way, or stuck. So they are read as well, unless nothing at all has been written to etcd
/// since they were seen. On an idle cluster that is one request a turn, on a busy one two.
///
/// Used on the session's executor only.
class renewals {
 public:
  explicit renewals(session& of) : session_(of) {}

  void renew(std::vector<core::renewal_item> items, core::time_point deadline,
             handler<renew_outcome> done);

 private:
  struct turn {
    std::vector<core::renewal_item> items;
    core::time_point deadline{};
    handler<renew_outcome> done;
    renewal so_far;
    std::set<std::int64_t> dead;  ///< leases that are gone
    std::size_t unanswered = 0;   ///< keepalives
    bool failed = false;
    std::uint64_t revision = 0;  ///< etcd's, when it confirmed the last lease
    std::uint64_t raft_term = 0;
    bool doubtful = false;  ///< keys have to be read, whatever the revision says
  };
  using turn_ptr = std::shared_ptr<turn>;

  void kept(const turn_ptr& t, std::int64_t lease, const kept_or_failure& what);
  void verify_from(const turn_ptr& t, std::size_t first);
  void finish(const turn_ptr& t);
  void fail(const turn_ptr& t, unknown why);
  /// True if whatever etcd has written until `t.revision` is known of all these terms.
  [[nodiscard]] bool up_to_date(const turn& t) const;
  [[nodiscard]] bool ours(const core::renewal_item& item) const;
  [[nodiscard]] std::optional<core::loss_reason> loss(const turn& in,
                                                      const core::renewal_item& item) const;

  session& session_;
  // Of the last renewal that was brought to its end.
  std::uint64_t raft_term_ = 0;
  std::uint64_t revision_ = 0;
};

}  // namespace tenure::stores::etcd
