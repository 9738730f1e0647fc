#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenure::settings {

/// Where to listen, or where a listener is.
struct listen_address {
  std::string host;        ///< an IPv4 or IPv6 literal without brackets, or "localhost"
  std::uint16_t port = 0;  ///< 0: the kernel chooses one

  friend bool operator==(const listen_address&, const listen_address&) = default;
};

/// "127.0.0.1:4040", "[::1]:4040".
std::string text(const listen_address& address);

/// True for an IPv4 or IPv6 literal, without brackets.
bool is_ip_literal(std::string_view host);

/// True for an IPv6 literal, without brackets.
bool is_ipv6_literal(std::string_view host);

/// True if only processes on this machine can connect to `host`, an IP literal or "localhost".
bool is_loopback(std::string_view host);

}  // namespace tenure::settings
