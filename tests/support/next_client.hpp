#pragma once

#include <poll.h>

#include <optional>
#include <utility>

#include "base/unique_fd.hpp"
#include "http/server/listening_socket.hpp"

namespace tenure::tests {

/// Waits for the next client of a listening socket; nothing once that was shut down.
inline std::optional<base::unique_fd> next_client(int listening) {
  for (;;) {
    pollfd waited{.fd = listening, .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, -1);
    if ((waited.revents & POLLHUP) != 0) return std::nullopt;
    if (auto client = http::accept_client(listening)) return std::move(*client);
  }
}

}  // namespace tenure::tests
