#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stores/etcd/codec.hpp"

namespace tenure::stores::etcd {

/// What an etcd error means, and which outcome of the store contract follows:
///
///   unknown          unknown: it may or may not have happened; other endpoints, then again
///   lease_gone       lost: the only one of these that is etcd's own word about a lease
///   lease_exists     unknown: an earlier try of ours came through, or the id is another's
///   unauthenticated  unknown: authenticate, then again within the same deadline
///   auth_disabled    none: authentication is off, go on without a token
///   denied           unknown; a refusal to open: user, password or role must be changed
///   compacted        none: read again, watch from there
///   unsupported      unknown; a refusal to open: no etcd gateway of 3.4 or later answers here
///   invalid          unknown; a refusal to open: etcd will never do what was asked
///   full             none: nothing was done. etcd takes deletions alone: a release is sent without
///                    its record, anything else is unknown
enum class error_meaning : std::uint8_t {
  unknown,
  lease_gone,
  lease_exists,
  unauthenticated,
  auth_disabled,
  denied,
  compacted,
  unsupported,
  invalid,
  full,
};

struct gateway_error {
  unsigned status = 0;  ///< HTTP's; 200 for an error in a stream
  int code = -1;        ///< gRPC's; -1: absent
  std::string message;  ///< the server's, printable and cut to one line for the log
  error_meaning meaning = error_meaning::unknown;
  std::string advice;  ///< what the user can do; empty if only another try helps
};

/// "etcdserver: no leader; advice", for people.
std::string text(const gateway_error& what);

/// Judges an error reply: code and text must both be etcd's. Any other reply, from a proxy or from
/// a later etcd, is unknown.
gateway_error read_error(unsigned http_status, std::string_view body);

/// Judges the `cancel_reason` of a watch, which has the code inside its text.
gateway_error read_cancel_reason(std::string_view reason);

}  // namespace tenure::stores::etcd
