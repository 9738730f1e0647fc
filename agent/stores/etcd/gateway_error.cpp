#include "stores/etcd/gateway_error.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "stores/server_text.hpp"

namespace tenure::stores::etcd {
namespace {

constexpr int any_code = -1;

/// gRPC's status codes, as far as etcd uses them.
enum grpc_code : int {
  canceled = 1,
  unknown_code = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  out_of_range = 11,
  unimplemented = 12,
  unavailable = 14,
  data_loss = 15,
  unauthenticated_code = 16,
};

struct row {
  int code;
  std::string_view text;
  error_meaning meaning;
  std::string_view advice;
};

constexpr std::string_view check_user =
    "check the user and password that the agent authenticates with";
constexpr std::string_view grant_role =
    "give the user a role with read and write access to the prefix of the election";
constexpr std::string_view check_cluster = "check `etcdctl endpoint status --cluster`";
constexpr std::string_view not_a_gateway =
    "check the endpoint: it must be the client URL of an etcd 3.4 or later, with its gRPC gateway "
    "enabled";
constexpr std::string_view our_defect = "etcd refuses the form of the request: please report this";
constexpr std::string_view busy = "etcd is overloaded: give it faster disks or fewer clients";

/// Every error with which 3.4 to 3.7 can answer our requests. Texts and codes are those of
/// api/v3rpc/rpctypes/error.go; where releases differ in the code there are two rows.
constexpr row table[] = {
    {not_found, "etcdserver: requested lease not found", error_meaning::lease_gone, ""},
    {failed_precondition, "etcdserver: lease already exists", error_meaning::lease_exists, ""},
    {out_of_range, "etcdserver: too large lease TTL", error_meaning::invalid,
     "choose a shorter TTL"},

    {unauthenticated_code, "etcdserver: invalid auth token", error_meaning::unauthenticated, ""},
    {invalid_argument, "etcdserver: user name is empty", error_meaning::unauthenticated,
     "etcd wants authentication: give the agent a user and password"},
    {invalid_argument, "etcdserver: revision of auth store is old", error_meaning::unauthenticated,
     ""},
    {invalid_argument, "etcdserver: authentication failed, invalid user ID or password",
     error_meaning::denied, check_user},
    {failed_precondition, "etcdserver: user name not found", error_meaning::denied, check_user},
    {permission_denied, "etcdserver: permission denied", error_meaning::denied, grant_role},
    {failed_precondition, "etcdserver: role name not found", error_meaning::denied, grant_role},
    {failed_precondition, "etcdserver: role is not granted to the user", error_meaning::denied,
     grant_role},
    {failed_precondition, "etcdserver: permission is not granted to the role",
     error_meaning::denied, grant_role},
    {invalid_argument, "etcdserver: invalid auth management", error_meaning::denied, check_user},
    {failed_precondition, "etcdserver: authentication is not enabled", error_meaning::auth_disabled,
     "authentication is off in etcd: user and password are not used"},

    {out_of_range, "etcdserver: mvcc: required revision has been compacted",
     error_meaning::compacted, ""},
    {out_of_range, "etcdserver: mvcc: required revision is a future revision",
     error_meaning::unknown,
     "this etcd server is behind the others, or was restored from a backup"},

    {resource_exhausted, "etcdserver: mvcc: database space exceeded", error_meaning::full,
     "etcd takes no writes: compact, `etcdctl defrag`, then `etcdctl alarm disarm`"},
    {resource_exhausted, "etcdserver: too many requests", error_meaning::unknown, busy},
    {data_loss, "etcdserver: corrupt cluster", error_meaning::unknown,
     "the servers of etcd have different data: restore the cluster"},
    {unavailable, "etcdserver: no leader", error_meaning::unknown, check_cluster},
    {unavailable, "etcdserver: leader changed", error_meaning::unknown, ""},
    {failed_precondition, "etcdserver: not leader", error_meaning::unknown, ""},
    {unknown_code, "not a primary lessor", error_meaning::unknown, ""},
    {unavailable, "etcdserver: server stopped", error_meaning::unknown, ""},
    {unavailable, "etcdserver: unhealthy cluster", error_meaning::unknown, check_cluster},
    {unavailable, "etcdserver: request timed out", error_meaning::unknown, busy},
    {unavailable, "etcdserver: request timed out, possibly due to previous leader failure",
     error_meaning::unknown, ""},
    {unavailable, "etcdserver: request timed out, possibly due to connection lost",
     error_meaning::unknown, check_cluster},
    {unavailable, "etcdserver: request timed out, waiting for the applied index took too long",
     error_meaning::unknown, busy},
    {canceled, "etcdserver: request canceled", error_meaning::unknown, ""},
    {canceled, "etcdserver: watch canceled", error_meaning::unknown, ""},
    {deadline_exceeded, "etcdserver: context deadline exceeded", error_meaning::unknown, ""},

    {unavailable, "etcdserver: rpc not supported for learner", error_meaning::unknown,
     "this endpoint is a learner: give the endpoints of voting servers"},
    {failed_precondition, "etcdserver: rpc not supported for learner", error_meaning::unknown,
     "this endpoint is a learner: give the endpoints of voting servers"},
    {unavailable, "etcdserver: not capable", error_meaning::unsupported,
     "the cluster is older than 3.4, or is being upgraded"},
    {failed_precondition, "etcdserver: not capable", error_meaning::unsupported,
     "the cluster is older than 3.4, or is being upgraded"},

    {invalid_argument, "etcdserver: request is too large", error_meaning::invalid,
     "fewer elections in one agent, or a larger --max-request-bytes in etcd"},
    {invalid_argument, "etcdserver: too many operations in txn request", error_meaning::invalid,
     "fewer elections in one agent, or a larger --max-txn-ops in etcd"},
    {invalid_argument, "etcdserver: duplicate key given in txn request", error_meaning::invalid,
     our_defect},
    {invalid_argument, "etcdserver: key is not provided", error_meaning::invalid, our_defect},
    {invalid_argument, "etcdserver: invalid sort option", error_meaning::invalid, our_defect},
    {invalid_argument, "etcdserver: invalid client api version", error_meaning::invalid,
     our_defect},

    // From the gateway itself, or from another server at that address. For an unknown path, 3.7
    // uses the same code as for a lease that is gone.
    {not_found, "Not Found", error_meaning::unsupported, not_a_gateway},
    {any_code, "Not Found", error_meaning::unsupported, not_a_gateway},
    {any_code, "404 page not found", error_meaning::unsupported, not_a_gateway},
    {unimplemented, "Method Not Allowed", error_meaning::unsupported, not_a_gateway},
    {any_code, "Method Not Allowed", error_meaning::unsupported, not_a_gateway},
    {any_code, "Client sent an HTTP request to an HTTPS server.", error_meaning::unsupported,
     "write the endpoint as https://"},
};

void judge(gateway_error& error) {
  const auto* const found = std::ranges::find_if(
      table, [&](const row& one) { return one.code == error.code && one.text == error.message; });
  if (found == std::ranges::end(table)) return;
  error.meaning = found->meaning;
  error.advice = found->advice;
}

}  // namespace

gateway_error read_error(unsigned http_status, std::string_view body) {
  const std::optional<error_fields> said = parse_error(body);
  gateway_error error{.status = http_status,
                      .code = said ? said->code : any_code,
                      .message = server_text(said ? said->message : body),
                      .advice = {}};
  judge(error);
  return error;
}

gateway_error read_cancel_reason(std::string_view reason) {
  constexpr std::string_view before_text = " desc = ";
  gateway_error error{.status = 200, .message = server_text(reason), .advice = {}};
  const auto at = error.message.find(before_text);
  if (at != std::string::npos) error.message.erase(0, at + before_text.size());
  const auto* const found = std::ranges::find(table, error.message, &row::text);
  if (found != std::ranges::end(table)) error.code = found->code;
  judge(error);
  return error;
}

std::string text(const gateway_error& what) {
  return what.advice.empty() ? what.message : what.message + "; " + what.advice;
}

}  // namespace tenure::stores::etcd
