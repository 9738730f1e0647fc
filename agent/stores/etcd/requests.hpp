#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/vocabulary.hpp"
#include "stores/etcd/codec.hpp"
#include "stores/etcd/layout.hpp"
#include "stores/store.hpp"

/// The transactions of an election. Pure.
namespace tenure::stores::etcd {

inline constexpr const char* version_path = "/version";
inline constexpr const char* transaction_path = "/v3/kv/txn";
inline constexpr const char* watch_path = "/v3/watch";
inline constexpr const char* grant_path = "/v3/lease/grant";
inline constexpr const char* keep_alive_path = "/v3/lease/keepalive";
inline constexpr const char* revoke_path = "/v3/lease/revoke";

/// etcd's default limit of operations in one transaction (`--max-txn-ops`).
inline constexpr std::size_t most_operations = 128;

/// Reads these ranges at one revision. Precondition: no more than `most_operations`.
transaction read_transaction(std::span<const key_range> ranges);

/// The result of a transaction of reads: the keys of each range.
struct reads {
  reply_header header;
  bool succeeded = false;
  std::vector<std::vector<key_value>> values;
};

/// The `count` ranges of a reply, skipping other parts between them. Malformed if there are more or
/// fewer.
parsed<reads> reads_in(std::string_view body, std::size_t count);

/// What must still be true when a transaction is executed.
struct basis {
  std::uint64_t newest = 0;  ///< the largest create_revision of a contender; 0: no contender
  std::uint64_t agreed = 0;  ///< the revision of the agreement's key; 0: no agreement
  core::agreement said{};    ///< what that key says; without slots if it cannot be read
  std::uint32_t slot = 0;    ///< a slot that no contender has
};

/// Becomes a contender, unless another one has appeared since, this one exists already, or the
/// agreement has changed. Writes the agreement if it does not have our number of slots: nobody may
/// contend then, which `on` says. Writes the seal unless it is empty.
/// In both cases it then reads the election.
transaction campaign_transaction(const settings::election& election, std::int64_t lease,
                                 const std::string& identity, const basis& on,
                                 const std::string& seal = {});

/// A key, and since when it is there.
struct dated_key {
  std::string key;
  std::uint64_t create_revision = 0;
};

/// Waits in line with a key of this lease, unless it is there already, another contender has
/// appeared since (it may be a place of ours that was written late), the agreement has changed, or
/// the oldest contender, `ahead`, is gone: then there is nobody to wait for. Writes the seal in the
/// same step, unless it is empty.
transaction place_transaction(const settings::election& election, std::int64_t lease,
                              const std::string& identity, const basis& on, const dated_key& ahead,
                              const std::string& seal = {});

/// Deletes the key of a place in line and, in the same step, the keys `also`, if one that is older,
/// `ahead`, is there still: then it has not become a term.
transaction leaving_transaction(const dated_key& own, const dated_key& ahead,
                                std::span<const std::string> also = {});

/// The keys of all contenders, the oldest first. With their values: etcd 3.7 leaves out the leases
/// of keys that are read with `keys_only`.
range line_of(std::string_view election);

/// Writes the agreement, unless a contender has appeared since or the agreement has changed; in
/// that case it reads the election.
transaction agreement_transaction(std::string_view election, const core::agreement& what,
                                  const basis& on);

/// Deletes the contender of the term `version` and, in the same step, the keys `also`, and writes
/// `note` unless that is empty.
transaction release_transaction(std::string_view election, const std::string& key,
                                core::version version, const std::string& note,
                                std::span<const std::string> also = {});

}  // namespace tenure::stores::etcd
