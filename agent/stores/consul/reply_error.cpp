#include "stores/consul/reply_error.hpp"

#include <algorithm>

#include "stores/server_text.hpp"

namespace tenure::stores::consul {
namespace {

struct row {
  unsigned status;
  std::string_view words;  ///< which the message contains
  error_meaning meaning;
  std::string_view advice;
};

constexpr std::string_view give_policy =
    "give the agent a token whose policy has key_prefix \"ELECTION/\" { policy = \"write\" } and "
    "session_prefix \"\" { policy = \"write\" }";
/// The name of that file follows.
constexpr std::string_view check_file = "the token is unknown to Consul: check its file";
constexpr std::string_view check_cluster = "check `consul operator raft list-peers`";
/// The first words of what a transaction says of an operation; a later Consul says what is missing.
constexpr std::string_view refused_operation = "Permission denied";
constexpr std::string_view not_consul =
    "check the endpoint: it must be the HTTP address of a Consul agent";

/// The words of Consul 1.8.7 and 1.21.0, which the suite asks where it can.
constexpr row table[] = {
    {404, "Session id '", error_meaning::session_gone, ""},
    {403, "ACL not found", error_meaning::unauthorized, check_file},
    {403, "Permission denied", error_meaning::denied, give_policy},
    {403, "rate limit", error_meaning::unknown, ""},
    {409, refused_operation, error_meaning::denied, give_policy},
    {500, "ACL not found", error_meaning::unauthorized, check_file},
    {500, "Permission denied", error_meaning::denied, give_policy},
    {500, "Invalid Session TTL", error_meaning::invalid,
     "choose a ttl in this range, or set session_ttl_min of all Consul servers"},
    {500, "must be between", error_meaning::invalid,
     "choose a ttl in this range, or set session_ttl_min of all Consul servers"},
    {500, "No path to datacenter", error_meaning::invalid, "check the name of the datacenter"},
    {500, "Missing node registration", error_meaning::unknown,
     "the agent has not joined its cluster yet, or is of another datacenter than the one that is "
     "set: a session is of a node of its own datacenter"},
    {500, "cross datacenter lock", error_meaning::invalid,
     "give the address of an agent of that datacenter: a session is of a node of its own"},
    {500, "Missing check", error_meaning::invalid,
     "each check of a session must exist at the agent that is asked"},
    {500, "is in critical state", error_meaning::unknown,
     "a check that the session needs does not pass"},
    {500, "No cluster leader", error_meaning::unknown, check_cluster},
    {500, "No known Consul servers", error_meaning::unknown, check_cluster},
    {429, "", error_meaning::unknown, "Consul limits the rate of requests"},
    {413, "", error_meaning::invalid, "fewer elections in one agent"},
    {400, "Invalid query parameter: \"ns\"", error_meaning::invalid,
     "namespaces exist in Consul Enterprise only"},
    {400, "Invalid query parameter: \"partition\"", error_meaning::invalid,
     "partitions exist in Consul Enterprise only"},
    {400, "Client sent an HTTP request to an HTTPS server.", error_meaning::unsupported,
     "write the endpoint as https://"},
    {400, "", error_meaning::invalid, ""},
    {405, "", error_meaning::unsupported, not_consul},
    {501, "", error_meaning::unsupported, not_consul},
};

}  // namespace

reply_error read_error(unsigned status, std::string_view body) {
  reply_error out{.status = status, .message = server_text(body)};
  const auto* const found = std::ranges::find_if(table, [&](const row& one) {
    return one.status == status && out.message.contains(one.words);
  });
  if (found == std::ranges::end(table)) return out;
  out.meaning = found->meaning;
  out.advice = found->advice;
  return out;
}

std::optional<reply_error> read_refusal(std::span<const failed_operation> failed) {
  const auto found = std::ranges::find_if(
      failed, [](const failed_operation& one) { return one.what.starts_with(refused_operation); });
  if (found == failed.end()) return std::nullopt;
  return read_error(409, found->what);
}

std::string text(const reply_error& what) {
  if (what.advice.empty()) return what.message;
  return (what.message.empty() ? "" : what.message + "; ").append(what.advice);
}

}  // namespace tenure::stores::consul
