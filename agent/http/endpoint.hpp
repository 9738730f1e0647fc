#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace tenure::http {

/// A server that we call: what a URL says of it.
struct endpoint {
  bool tls = false;
  std::string host;  ///< a name in lower case, or an IPv4 or IPv6 literal without brackets
  std::uint16_t port = 0;
  std::string base{};  ///< put before each request's path: "" or "/prefix", no slash at its end
  std::string socket_path{};  ///< of a Unix socket, which is dialed instead of host and port

  friend bool operator==(const endpoint&, const endpoint&) = default;
};

/// Reads "http://10.0.0.1:2379", "https://[::1]:2379/prefix", "etcd-0.etcd" (plain HTTP on the
/// default port).
///
/// The error says what is wrong and shows a good one. A URL with a user in it is refused without
/// being repeated: a password must not get into a log.
std::expected<endpoint, std::string> parse_endpoint(std::string_view url,
                                                    std::uint16_t default_port);

/// Reads what `parse_endpoint` does, and "unix:/run/tenure.sock": an absolute path.
std::expected<endpoint, std::string> parse_local_endpoint(std::string_view url,
                                                          std::uint16_t default_port);

/// The URL, normalized, with its port: for logs and errors.
std::string text(const endpoint& where);

/// What a Host header says of it.
std::string host_header(const endpoint& where);

}  // namespace tenure::http
