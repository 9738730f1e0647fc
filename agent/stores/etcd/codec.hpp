#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stores/malformed.hpp"

/// Bytes <-> structs for etcd's v3 JSON gateway, 3.4 to 3.7. Pure: no I/O, no clock.
///
/// Requests are written in the one form that all of these versions accept. Replies are read
/// strictly: a missing field, a wrong type or a contradiction makes a reply `malformed`, which for
/// a lease means that its state is unknown. Believing a false grant is the worst that can happen
/// here; refusing a good reply costs one attempt.
namespace tenure::stores::etcd {

/// etcd's own limit on the TTL of a lease; a reply with a longer grant is not from etcd.
inline constexpr std::int64_t max_ttl_seconds = 9'000'000'000;

// Requests.

/// One condition of a transaction: `field_of(key) relation number`, or for the value `value_of(key)
/// relation value`. A key that does not exist has 0 in every number. With `end`, the condition must
/// be true of every key from `key` to before `end`; with no key there, of a key that does not
/// exist.
struct compare {
  enum class field : std::uint8_t { create_revision, mod_revision, lease, value };
  enum class relation : std::uint8_t { equal, greater, less, not_equal };
  std::string key;
  std::string end{};  ///< empty: `key` alone
  field what = field::create_revision;
  relation is = relation::equal;
  std::uint64_t number = 0;
  std::string value{};  ///< used only if `what` is the value
};

/// Writes one key. etcd refuses this if the lease does not exist (error_meaning::lease_gone).
struct put {
  std::string key;
  std::string value;
  std::int64_t lease = 0;
};

/// Deletes one key.
struct erase {
  std::string key;
};

/// Reads `key`, or all keys from `key` to before `end`. Linearizable unless `serializable`.
struct range {
  enum class order : std::uint8_t { none, create_ascend };
  std::string key;
  std::string end;         ///< empty: `key` alone
  std::int64_t limit = 0;  ///< 0: all
  order by = order::none;
  bool serializable = false;
};

using operation = std::variant<put, erase, range>;

/// Executed atomically: `then` if every condition is true, else `otherwise`.
struct transaction {
  std::vector<compare> when;
  std::vector<operation> then;
  std::vector<operation> otherwise;
};

/// The first key after all those that begin with `prefix`: the `end` of a range over them. If there
/// is no such key: one zero byte, which etcd reads as "to the last key".
std::string prefix_end(std::string_view prefix);

/// POST /v3/lease/grant. The client chooses the id, so that it knows a grant whose reply was lost.
/// Precondition: both are positive.
std::string grant_request(std::int64_t ttl_seconds, std::int64_t id);

/// POST /v3/lease/keepalive. Several requests in one body are answered one by one.
std::string keep_alive_request(std::int64_t id);

/// POST /v3/lease/revoke. Deletes every key attached to the lease.
std::string revoke_request(std::int64_t id);

/// POST /v3/kv/range
std::string range_request(const range& what);

/// POST /v3/kv/txn
std::string transaction_request(const transaction& what);

/// POST /v3/watch: every change from `start_revision` on (0: from now) to `key`, or to the keys
/// from `key` to before `end`. Events carry `watch_id`, which must be unique on the stream. Ends
/// with a newline: several requests make one body, and one stream serves them all.
///
/// The request must say `Connection: close`. Without it, Go's HTTP/1 server discards the unread
/// rest of the body when the first reply leaves, and silently loses some of the creates beyond the
/// first 512 bytes. With it, the body may even stay open (chunked), and more documents may follow.
std::string watch_request(const std::string& key, const std::string& end,
                          std::uint64_t start_revision, std::int64_t watch_id);

/// Asks an open watch stream for a reply with watch_id -1 and the present revision, which proves
/// that the stream is alive.
std::string progress_request();

/// POST /v3/auth/authenticate
std::string authenticate_request(std::string_view user, std::string_view password);

// Replies.

/// Who answered, and at which revision. Only the reply to a canceled watch has revision 0.
struct reply_header {
  std::uint64_t cluster_id = 0;
  std::uint64_t member_id = 0;
  std::uint64_t revision = 0;
  std::uint64_t raft_term = 0;
};

/// A key as it was at the reply's revision: 0 < create_revision <= mod_revision <= revision.
struct key_value {
  std::string key;
  std::string value;
  std::uint64_t create_revision = 0;  ///< 0 only in the event of a deletion
  std::uint64_t mod_revision = 0;
  std::int64_t lease = 0;
};

struct grant_reply {
  reply_header header;
  std::int64_t id = 0;
  std::int64_t ttl_seconds = 0;  ///< as granted, at least 1
};

struct keep_alive_reply {
  reply_header header;
  std::int64_t id = 0;
  std::int64_t ttl_seconds = 0;  ///< 0: the lease is gone (etcd leaves the field out)
};

struct revoke_reply {
  reply_header header;
};

struct range_reply {
  reply_header header;  ///< in a transaction: the transaction's
  std::vector<key_value> values;
  bool more = false;  ///< `limit` cut the reply short
};

struct put_done {};

struct erase_done {
  std::int64_t count = 0;  ///< keys deleted: 0 or 1 for an `erase`
};

struct transaction_reply {
  using part = std::variant<put_done, erase_done, range_reply>;
  reply_header header;
  bool succeeded = false;   ///< every condition was true
  std::vector<part> parts;  ///< one per operation; the caller checks kinds and number
};

struct watch_event {
  bool erased = false;
  key_value kv;  ///< for a deletion, only key and mod_revision are set
};

/// `created` answers a create; `canceled` ends that watch alone. A failed create has both, and
/// watch_id -1 instead of its own. A reply with neither and no events reports progress.
struct watch_reply {
  reply_header header;
  std::int64_t watch_id = 0;
  bool created = false;
  bool canceled = false;
  std::uint64_t compact_revision = 0;  ///< not 0: canceled because the start revision was compacted
  std::string cancel_reason;           ///< for read_cancel_reason()
  std::vector<watch_event> events;
};

struct authenticate_reply {
  reply_header header;
  std::string token;  ///< printable ASCII, safe in an Authorization header
};

/// GET /version
struct version_reply {
  std::string server;   ///< "3.4.23"
  std::string cluster;  ///< "3.4.0", or "not_decided" while a new cluster starts
};

/// The fields of an error reply, not interpreted yet.
struct error_fields {
  int code = -1;  ///< gRPC's; -1: absent
  std::string message;
};

/// Each takes one JSON document. The streamed ones (keep-alive, watch) accept it with
/// {"result":...} around it and without. An error reply is malformed here: where an error can come
/// with status 200, which is on streams, call parse_error() first.
parsed<grant_reply> parse_grant(std::string_view body);
parsed<keep_alive_reply> parse_keep_alive(std::string_view document);
parsed<revoke_reply> parse_revoke(std::string_view body);
parsed<range_reply> parse_range(std::string_view body);
parsed<transaction_reply> parse_transaction(std::string_view body);
parsed<watch_reply> parse_watch(std::string_view document);
parsed<authenticate_reply> parse_authenticate(std::string_view body);
parsed<version_reply> parse_version(std::string_view body);

/// The code and text of an error in any of its shapes: {"error":..,"message":..,"code":..} of 3.4,
/// {"code":..,"message":..} of 3.7, {"error":{..}} in a stream. Nothing if `document` is not an
/// error.
std::optional<error_fields> parse_error(std::string_view document);

}  // namespace tenure::stores::etcd
