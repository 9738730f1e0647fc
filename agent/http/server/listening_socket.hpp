#pragma once

#include <expected>
#include <string>

#include "base/unique_fd.hpp"
#include "http/listen_error.hpp"
#include "settings/listen_address.hpp"

namespace tenure::http {

/// Clients that wait to be accepted; the kernel refuses more.
inline constexpr int listen_backlog = 256;

/// A socket that queues clients. It is not inherited by the workload: a child that outlives the
/// agent would otherwise keep the port.
struct listening_socket {
  base::unique_fd fd;
  settings::listen_address bound;
};

/// Opens one, non-blocking, with SO_REUSEADDR: connections of the agent's last life that the
/// kernel still keeps in TIME_WAIT do not matter.
std::expected<listening_socket, listen_error> open_listening_socket(
    const settings::listen_address& where);

/// Takes one client from the queue, non-blocking and not inherited either; or the errno value.
std::expected<base::unique_fd, int> accept_client(int listening);

/// Whose client it is, as far as addresses tell: that of IPv4, the first 64 bits of one of IPv6
/// (one host may have all of the rest). Bytes, for comparing; empty on a Unix socket.
std::string network_of(int client);

}  // namespace tenure::http
