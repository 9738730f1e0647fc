#pragma once

#include <expected>
#include <string>

#include "base/unique_fd.hpp"
#include "http/listen_error.hpp"
#include "settings/listen_address.hpp"

namespace tenure::http {

/// The most clients that wait to be accepted; the kernel refuses more.
inline constexpr int listen_backlog = 256;

/// A socket that queues clients. The workload does not inherit it: a child that outlives the agent
/// would keep the port.
struct listening_socket {
  base::unique_fd fd;
  settings::listen_address bound;
};

/// Opens a non-blocking socket with SO_REUSEADDR: connections of the agent's last run that the
/// kernel keeps in TIME_WAIT do not matter.
std::expected<listening_socket, listen_error> open_listening_socket(
    const settings::listen_address& where);

/// Accepts one client, non-blocking and not inherited either; or the errno value.
std::expected<base::unique_fd, int> accept_client(int listening);

/// The network of a client, as far as addresses tell: the IPv4 address, or the first 64 bits of an
/// IPv6 address (one host may have all the rest). Bytes for comparison; empty on a Unix socket.
std::string network_of(int client);

}  // namespace tenure::http
