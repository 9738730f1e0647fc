#include "api/control.hpp"

#include <unistd.h>

#include <string_view>
#include <utility>

#include "api/control_codec.hpp"
#include "api/token.hpp"

namespace tenure::api {
namespace {

std::optional<core::order_action> action_of(const http::request& asked) {
  const auto& path = asked.target.segments;
  if (path.size() != 4 || path[0] != "v1" || path[1] != "elections") return std::nullopt;
  return core::order_action_named(path[3]);
}

std::unexpected<http::response> refused(unsigned status, problem why) {
  return std::unexpected(error_response(status, why));
}

/// Orders are for root and ourselves on the Unix socket, and for whoever has been given the token.
std::optional<http::response> not_allowed(const http::request& asked, const control_access& who) {
  if (asked.peer && (asked.peer->uid == 0 || asked.peer->uid == ::geteuid())) return std::nullopt;
  if (who.token_file.empty()) {
    return error_response(
        403,
        {.code = "control_off",
         .message = asked.peer ? "orders are for root and the user of the agent"
                               : "this agent takes no orders over TCP",
         .action = "use the agent's Unix socket (--socket PATH) as its user, or give the agent "
                   "--control-token-file FILE and send Authorization: Bearer TOKEN"});
  }
  constexpr std::string_view scheme = "Bearer ";
  if (!asked.authorization || !asked.authorization->starts_with(scheme)) {
    http::response out =
        error_response(401, {.code = "token_missing",
                             .message = "this call needs the control token of the agent",
                             .action = "send Authorization: Bearer TOKEN with the content of the "
                                       "agent's control_token_file"});
    out.headers.push_back({.name = "WWW-Authenticate", .value = "Bearer"});
    return out;
  }
  const auto token = read_token(who.token_file);
  if (!token) {
    return error_response(503, {.code = "token_unreadable",
                                .message = token.error(),
                                .action = "mend the file; it is read at each call"});
  }
  if (!same_secret(*token, std::string_view(*asked.authorization).substr(scheme.size()))) {
    http::response out = error_response(
        401, {.code = "token_wrong",
              .message = "this is not the control token of the agent",
              .action = "read the agent's control_token_file again; it may have changed"});
    out.headers.push_back({.name = "WWW-Authenticate", .value = "Bearer"});
    return out;
  }
  return std::nullopt;
}

}  // namespace

control_refusal refusal(unsigned status, std::string code, std::string message,
                        std::string action) {
  return {
      .status = status,
      .why = {.code = std::move(code), .message = std::move(message), .action = std::move(action)}};
}

control_refusal refusal_at_the_end() {
  return refusal(503, "stopping", "the agent was told to end", "ask another agent");
}

bool is_control(const http::request& asked) {
  return action_of(asked).has_value();
}

std::expected<control_request, http::response> read_control(const http::request& asked,
                                                            const snapshot& seen,
                                                            const control_access& who) {
  const core::order_action what = *action_of(asked);
  if (asked.method != "POST") {
    http::response out =
        error_response(405, {.code = "method_not_allowed",
                             .message = asked.method + " is not possible on " + asked.target.path,
                             .action = "use POST; this changes who holds"});
    out.headers.push_back({.name = "Allow", .value = "POST"});
    return std::unexpected(std::move(out));
  }
  if (auto answer = not_allowed(asked, who)) return std::unexpected(std::move(*answer));
  const std::string& election = asked.target.segments[2];
  const auto which = seen.elections.find(election);
  if (!which) {
    return refused(404, {.code = "unknown_election",
                         .message = "this agent has no election \"" + election + "\"",
                         .action = "GET /v1/elections lists those that it has"});
  }
  auto order = parse_order(what, asked.body);
  if (!order) {
    return refused(400, {.code = "bad_body",
                         .message = order.error(),
                         .action = "send JSON, e.g. {\"to\":\"db-1\"} to transfer, "
                                   "{\"aside\":\"30s\"} to resign, or nothing"});
  }
  return control_request{.which = core::election_index{static_cast<std::uint32_t>(*which)},
                         .what = std::move(*order)};
}

http::response control_response(const http::request& asked, const core::order& what,
                                const control_result& result) {
  if (!result) return error_response(result.error().status, result.error().why);
  return accepted_response(asked.target.segments[2], what, *result);
}

}  // namespace tenure::api
