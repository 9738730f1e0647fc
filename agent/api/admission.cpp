#include "api/admission.hpp"

#include <unistd.h>

#include <algorithm>

#include "api/responses.hpp"
#include "api/token.hpp"
#include "http/tls/tls_secret.hpp"
#include "settings/listen_address.hpp"

namespace tenure::api {
namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

/// True for an empty text, and for ":4040".
bool is_port(std::string_view text) {
  constexpr std::size_t most_bytes = 6;
  return text.empty() || (text.starts_with(':') && text.size() > 1 && text.size() <= most_bytes &&
                          text.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

/// "[::1]:4040" -> "::1", "LocalHost.:80" -> "localhost"; empty if it is not a host and a port.
std::string bare_host(std::string_view host) {
  const bool in_brackets = host.starts_with('[');
  const std::size_t end = std::min(host.find(in_brackets ? ']' : ':'), host.size());
  std::string_view name = host.substr(0, end);
  std::string_view port = host.substr(end);
  if (in_brackets) {
    if (port.empty()) return {};
    name.remove_prefix(1);
    port.remove_prefix(1);
    // Brackets are for IPv6 addresses, which contain colons.
    if (!name.contains(':')) return {};
  }
  if (!is_port(port)) return {};
  if (name.ends_with('.')) name.remove_suffix(1);
  return lower_case(name);
}

http::response no_token(const wire::problem& what) {
  http::response out = error_response(401, what);
  out.headers.push_back({.name = "WWW-Authenticate", .value = "Bearer"});
  return out;
}

}  // namespace

bool names_this_machine(std::string_view host, const std::vector<std::string>& further) {
  const std::string name = bare_host(host);
  return name == "localhost" || name.ends_with(".localhost") || settings::is_ip_literal(name) ||
         std::ranges::any_of(further,
                             [&](const std::string& one) { return lower_case(one) == name; });
}

bool same_origin(std::string_view origin, std::string_view host) {
  const std::size_t scheme_end = origin.find("://");
  if (scheme_end == std::string_view::npos) return false;
  return lower_case(origin.substr(scheme_end + 3)) == lower_case(host);
}

std::optional<http::response> refusal(const http::request& asked,
                                      const std::vector<std::string>& further) {
  // Browsers do not connect to Unix sockets, and programs that do have no host name to ask for.
  if (asked.peer) return std::nullopt;
  // A request without Host is HTTP/1.0, which browsers do not use.
  if (asked.host && !names_this_machine(*asked.host, further)) {
    return error_response(
        403, {.code = "host_not_allowed",
              .message = "the Host \"" + *asked.host + "\" is not a name of this machine",
              .action = "ask localhost or an IP address, or give the agent --allowed-host with "
                        "this name"});
  }
  if (asked.origin && !same_origin(*asked.origin, asked.host.value_or(""))) {
    return error_response(
        403, {.code = "origin_not_allowed",
              .message = "a page of the origin \"" + *asked.origin + "\" may not ask this agent",
              .action = "ask from a program, or from a page of this agent"});
  }
  return std::nullopt;
}

std::optional<http::response> order_refusal(const http::request& asked, const control_access& who) {
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
  // RFC 9110, 11.1: the name of a scheme is read in any case.
  constexpr std::string_view scheme = "bearer ";
  if (!asked.authorization || lower_case(asked.authorization->substr(0, scheme.size())) != scheme) {
    return no_token({.code = "token_missing",
                     .message = "this call needs the control token of the agent",
                     .action = "send Authorization: Bearer TOKEN with the content of the agent's "
                               "control_token_file"});
  }
  const auto token = read_token(who.token_file);
  if (!token) {
    return error_response(503, {.code = "token_unreadable",
                                .message = token.error(),
                                .action = "fix the file; it is read at each call"});
  }
  if (!http::same_secret(*token, std::string_view(*asked.authorization).substr(scheme.size()))) {
    return no_token({.code = "token_wrong",
                     .message = "this is not the control token of the agent",
                     .action = "read the agent's control_token_file again; it may have changed"});
  }
  return std::nullopt;
}

}  // namespace tenure::api
