#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/clock.hpp"
#include "stores/malformed.hpp"

/// Bytes <-> structs for Consul's HTTP API, as 1.8.7 and 1.21.0 speak it. Pure: no I/O, no clock.
///
/// Replies are read strictly: a missing member, a wrong type or a contradiction makes a reply
/// `malformed`, and the outcome of its request unknown.
namespace tenure::stores::consul {

/// Most operations of one transaction in the oldest Consul that is supported (`maxTxnOps`).
inline constexpr std::size_t most_operations = 64;

/// What becomes of a session's keys when it ends.
enum class behavior : std::uint8_t {
  release,  ///< nobody holds them any more
  remove,   ///< they are deleted
};

/// A session to be made. Consul's defaults for what is not given would be the gossip check of the
/// agent's node and a lock-delay of 15 s, so all of it is always given.
struct session_wish {
  std::string name;  ///< for people
  /// Consul keeps the session for at least this long after each renewal, and up to twice as long.
  /// Nothing: only a failed check or an operator ends it.
  std::optional<core::duration> ttl{};
  core::duration lock_delay{};  ///< 0 to 60 s
  behavior then = behavior::release;
  std::vector<std::string> node_checks{};     ///< ids, e.g. "serfHealth"
  std::vector<std::string> service_checks{};  ///< ids of checks of services of the agent's node
};

/// PUT /v1/session/create
std::string session_request(const session_wish& what);

/// True for an id such as "adf4238a-882b-9ddc-4a9d-5b6758e4159e".
bool is_session_id(std::string_view text);

/// The id of the session that was made; it goes into the paths of our requests.
parsed<std::string> parse_session(std::string_view body);

/// What PUT /v1/session/renew/ID says of that session: its TTL, or nothing if it has none.
/// Malformed if it is about another one.
parsed<std::optional<core::duration>> parse_renewal(std::string_view body, std::string_view id);

// Transactions: all of their operations are executed, or none.

/// The session holds the key; otherwise the transaction fails.
struct check_session {
  std::string key;
  std::string session;
};

/// The key was written last at this index; otherwise the transaction fails.
struct check_index {
  std::string key;
  std::uint64_t index = 0;
};

/// There is no such key; otherwise the transaction fails.
struct check_absent {
  std::string key;
};

/// The session holds the key from now on; the transaction fails if another one does, or while a
/// lock-delay lasts. If it holds it already, the value is written alone.
struct lock {
  std::string key;
  std::string value;
  std::uint64_t flags = 0;
  std::string session;
};

/// The session no longer holds the key; the transaction fails if it does not hold it. The value is
/// written as well.
struct unlock {
  std::string key;
  std::string value;
  std::uint64_t flags = 0;
  std::string session;
};

/// Writes the key; a lock on it does not matter. With an index: only if it was written last then,
/// and with 0 only if there is no such key; otherwise the transaction fails.
struct write {
  std::string key;
  std::string value;
  std::uint64_t flags = 0;
  std::optional<std::uint64_t> index{};
};

/// Deletes the key if it was written last at this index. The transaction fails if it was written
/// since, and not if there is no such key.
struct erase {
  std::string key;
  std::uint64_t index = 0;
};

/// Shows the key; the transaction fails if there is none.
struct fetch {
  std::string key;
};

using operation =
    std::variant<check_session, check_index, check_absent, lock, unlock, write, erase, fetch>;

/// Where the keys of an operation are. Consul takes it from the operation itself, not from the
/// request's query. Empty: as the token says, mostly "default".
struct tenancy {
  std::string name_space{};
  std::string partition{};
};

/// PUT /v1/txn. Precondition: no more than `most_operations`.
std::string transaction_request(std::span<const operation> all, const tenancy& in = {});

/// A key as Consul shows it.
struct key_value {
  std::string key{};
  std::string value{};  ///< empty in the result of an operation that checks or writes
  std::uint64_t flags = 0;
  /// How often it was acquired. Begins again if the key is deleted, and if anyone writes it without
  /// locking or unlocking it, even while it is held.
  std::uint64_t lock_index = 0;
  std::uint64_t create_index = 0;
  std::uint64_t modify_index = 0;
  std::string session{};  ///< who holds it; empty: nobody

  friend bool operator==(const key_value&, const key_value&) = default;
};

/// Why an operation has made its transaction fail. Consul tells in words alone.
enum class failure : std::uint8_t {
  held,        ///< another session holds the key
  delayed,     ///< nobody may lock the key until a lock-delay is over
  no_session,  ///< the session does not exist: it has ended, or never was
  changed,     ///< a check or an index says that the key is not what it was
  other,       ///< anything else; the store's state is unknown
};

struct failed_operation {
  std::size_t which = 0;  ///< its place in the request
  failure why = failure::other;
  std::string what;  ///< Consul's words; may repeat names of keys
};

struct transaction_reply {
  /// In the order of the operations: the key of each that checks it, shows it, writes it, locks or
  /// unlocks it; nothing for `check_absent` and `erase`.
  std::vector<key_value> shown;
  std::vector<failed_operation> failed;  ///< not empty: nothing was executed
};

/// The answer to PUT /v1/txn with status 200 or 409, which this must agree with: with 409 an
/// operation has failed, with 200 none has.
parsed<transaction_reply> parse_transaction(int status, std::string_view body);

/// How a reply contradicts the operations that it answers: it shows other keys than theirs, or
/// shows them in another state than they left. Empty: it does not.
std::string contradiction(std::span<const operation> asked, const transaction_reply& reply);

/// The answer to GET /v1/kv with status 200: at least one key, each once, in bytewise order.
parsed<std::vector<key_value>> parse_keys(std::string_view body);

/// What an agent says of itself: GET /v1/agent/self.
struct agent_reply {
  std::string version;  ///< "1.8.7"; printable
  std::string datacenter;
};

parsed<agent_reply> parse_agent(std::string_view body);

/// True if a Consul of this version knows partitions: an older one ignores them in a request's
/// query.
bool has_partitions(std::string_view version);

}  // namespace tenure::stores::consul
