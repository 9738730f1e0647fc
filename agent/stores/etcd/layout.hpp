#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Where leases are in etcd: as `concurrency.Election` and `concurrency.Mutex` of etcd's own Go
/// client have them, so that `etcdctl lock`, `etcdctl elect` and Go programs exclude us and we
/// them.
namespace tenure::stores::etcd {

/// Every key under this is a contender; those with the lowest create_revisions hold.
std::string prefix_of(std::string_view election);

/// `<election>/<lease id in lower-case hex>`, attached to that lease.
std::string contender_key(std::string_view election, std::int64_t lease);

/// `<election>.tenure`: which term was released last, and how (release_record_text.hpp). Beside the
/// prefix, as whatever is under that would be taken for a contender.
std::string release_record(std::string_view election);

/// `<election>.tenure.members/<lease id>`: the name of a member, holder or not (membership.hpp).
std::string member_key(std::string_view election, std::int64_t lease);

/// `<election>.tenure.agreement`: how many may hold (agreement_text.hpp).
std::string agreement_key(std::string_view election);

/// What all member keys of an election begin with.
std::string member_prefix(std::string_view election);

/// `<election>.tenure.orders/<id>`: what one member's agent wants another to do (order_text.hpp),
/// on a lease of its own.
std::string order_key(std::string_view election, std::string_view id);

/// What all order keys of an election begin with.
std::string order_prefix(std::string_view election);

/// Keys from `begin` on, and before `end`.
struct key_range {
  std::string begin;
  std::string end;

  friend bool operator==(const key_range&, const key_range&) = default;
};

/// All that there is to know about an election: its record, its members, orders and its prefix,
/// which are one range as '.' comes right before '/'.
key_range range_of(std::string_view election);

/// Lease ids that nobody else has. The upper part tells our session, which restarts of the agent
/// under one guard share, the lower one our leases from each other: an operation on an earlier one
/// that is carried out late cannot touch the present one.
class lease_ids {
 public:
  /// `session`: as in the store's settings; `salt`: of this incarnation of the agent.
  lease_ids(std::string_view session, std::uint64_t salt);

  /// Never 0, never negative.
  [[nodiscard]] std::int64_t next();

  /// True if a key that ends with a lease's id, as all keys of members do, is of our session.
  [[nodiscard]] bool made(std::string_view key) const;

 private:
  static constexpr int counter_bits = 24;
  std::uint64_t session_;
  std::uint64_t counter_;
};

}  // namespace tenure::stores::etcd
