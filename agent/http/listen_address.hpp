#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenure::http {

/// Where to listen, or where a listener is.
struct listen_address {
  std::string host;        ///< an IPv4 or IPv6 literal without brackets, or "localhost"
  std::uint16_t port = 0;  ///< 0: the kernel chooses one

  friend bool operator==(const listen_address&, const listen_address&) = default;
};

/// "127.0.0.1:4040", "[::1]:4040".
std::string text(const listen_address& address);

/// Why a listener could not be opened; each calls for something else of the caller.
enum class listen_failure : std::uint8_t {
  in_use,         ///< somebody has the port; another port, or none, may do
  not_permitted,  ///< a privileged port, or forbidden by policy
  not_ours,       ///< no interface of this machine has the address
  bad_address,    ///< not an IP literal
  other,
};

struct listen_error {
  listen_failure kind = listen_failure::other;
  std::string text;  ///< what failed, against which address, why
};

/// True for an IPv4 or IPv6 literal, without brackets.
bool is_ip_literal(std::string_view host);

}  // namespace tenure::http
