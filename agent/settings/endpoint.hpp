#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "settings/mistake.hpp"

/// The one parser of the URLs of servers: of stores, of health checks and hooks, of other agents.
namespace tenure::settings {

/// A server that we call: what a URL says of it.
struct endpoint {
  bool tls = false;
  std::string host;  ///< a name in lower case, or an IPv4 or IPv6 literal without brackets
  std::uint16_t port = 0;
  std::string base{};  ///< put before each request's path: "" or "/prefix", no slash at its end
  std::string socket_path{};  ///< a Unix socket, which is dialed instead of host and port

  friend bool operator==(const endpoint&, const endpoint&) = default;
};

/// May a URL leave out http:// and https://?
enum class scheme : std::uint8_t {
  needed,
  assumed_http,
};

/// Reads "http://10.0.0.1:2379", "https://[::1]:2379/prefix" and, with `assumed_http`,
/// "etcd-0.etcd". Without a port it is `default_port`.
///
/// The mistake quotes the URL, but never a user, a password or a query in it.
parsed<endpoint> parse_endpoint(std::string_view url, std::uint16_t default_port,
                                scheme given = scheme::needed);

/// Reads what `parse_endpoint` does with `assumed_http`, and "unix:/run/tenure.sock" with an
/// absolute path.
parsed<endpoint> parse_local_endpoint(std::string_view url, std::uint16_t default_port);

/// True if there is a user, and maybe a password, in front of the host.
bool has_user(std::string_view url);

/// `url` in quotes for a message, without a user, a password and a query.
std::string quote_endpoint(std::string_view url);

/// The URL, normalized, with its port: for logs and errors.
std::string text(const endpoint& where);

/// What a Host header says of it.
std::string host_header(const endpoint& where);

}  // namespace tenure::settings
