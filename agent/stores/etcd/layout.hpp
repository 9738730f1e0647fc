#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Where leases are in etcd: in the places that `concurrency.Election` and `concurrency.Mutex` of
/// etcd's Go client use, so that Tenure, `etcdctl lock`, `etcdctl elect` and Go programs respect
/// each other's locks.
namespace tenure::stores::etcd {

/// Every key under this prefix is a contender; those with the lowest create_revisions hold.
std::string prefix_of(std::string_view election);

/// `<election>/<lease id in lower-case hex>`, attached to that lease; for another slot than 0,
/// `.<slot>` follows. The value cannot say it: other programs show that as the holder's name.
std::string contender_key(std::string_view election, std::int64_t lease, std::uint32_t slot = 0);

/// The slot in a contender's key; 0 in those of other programs.
std::uint32_t slot_in(std::string_view key);

/// `<election>.tenure`: which term was released last, and how (release_record_text.hpp). Outside
/// the prefix, because every key under that counts as a contender.
std::string release_record(std::string_view election);

/// `<election>.tenure.members/<lease id>`: the name of a member, active or standby
/// (membership.hpp).
std::string member_key(std::string_view election, std::int64_t lease);

/// `<election>.tenure.agreement`: how many may hold (agreement_text.hpp).
std::string agreement_key(std::string_view election);

/// The prefix of all member keys of an election.
std::string member_prefix(std::string_view election);

/// `<election>.tenure.orders/<id>`: an order from one member's agent to another (order_text.hpp),
/// on a lease of its own.
std::string order_key(std::string_view election, std::string_view id);

/// The prefix of all order keys of an election.
std::string order_prefix(std::string_view election);

/// Keys from `begin` on, and before `end`.
struct key_range {
  std::string begin;
  std::string end;

  friend bool operator==(const key_range&, const key_range&) = default;
};

/// `<election>.tenure.ready/<lease id>`, beside the name of that member: what it says of itself
/// (readiness_text.hpp). Earlier releases do not write it.
std::string ready_prefix(std::string_view election);
std::string ready_key(std::string_view election, std::int64_t lease);

/// `<election>.tenure.seal/<lease id>`, beside the contender's key with that lease and written in
/// one step with it: the public key to a private one that only its agent has, in base64 (decision
/// 43). Not there if that agent tells nobody, and in earlier releases.
std::string seal_prefix(std::string_view election);
std::string seal_key(std::string_view election, std::int64_t lease);

/// All keys of an election: its record, members, orders and contenders. They are one range, as '.'
/// comes right before '/'.
key_range range_of(std::string_view election);

/// Lease ids that are unique to us. The upper part identifies the session, which all runs of the
/// agent under one guard share; the lower part tells our leases from each other. An operation on an
/// earlier lease that is executed late therefore cannot touch the present one.
class lease_ids {
 public:
  /// `session`: as in the store's settings; `salt`: differs for each run of the agent.
  lease_ids(std::string_view session, std::uint64_t salt);

  /// Never 0, never negative.
  [[nodiscard]] std::int64_t next();

  /// True if a key with a lease id, of a member or a contender, belongs to our session.
  [[nodiscard]] bool made(std::string_view key) const;

  /// True if `next` has given this id, in this run of the agent.
  [[nodiscard]] bool gave(std::int64_t lease) const;

 private:
  static constexpr int counter_bits = 24;
  std::uint64_t session_;
  std::uint64_t first_;
  std::uint64_t counter_;
};

}  // namespace tenure::stores::etcd
