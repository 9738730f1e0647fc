#pragma once

#include <poll.h>

#include <optional>
#include <utility>

#include "net/listening_socket.hpp"
#include "os/unique_fd.hpp"

namespace tenure::tests {

/// Waits for the next client of a listening socket; nothing once that was shut down.
inline std::optional<os::unique_fd> next_client(int listening) {
  for (;;) {
    pollfd waited{.fd = listening, .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, -1);
    if ((waited.revents & POLLHUP) != 0) return std::nullopt;
    if (auto client = net::accept_client(listening)) return std::move(*client);
  }
}

}  // namespace tenure::tests
