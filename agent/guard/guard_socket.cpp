#include "guard/guard_socket.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace tenure::guard {

/// Any failure but a full socket means that nobody reads it, which the guard learns from the death
/// of the agent.
bool guard_socket::send(std::span<const std::byte> packet) {
  const ssize_t sent = ::send(fd(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent >= 0 || (errno != EAGAIN && errno != ENOBUFS);
}

packet_socket::received guard_socket::receive(std::span<std::byte> into) {
  const auto next = [&] {
    return ::recv(fd(), into.data(), into.size(), MSG_DONTWAIT | MSG_TRUNC);
  };
  ssize_t got = next();
  // The agent has ended without reading all of our packets. The kernel says so once, and before it
  // hands out those that the agent has sent.
  if (got < 0 && errno == ECONNRESET) got = next();
  if (got < 0) return {};
  if (got == 0 && hung_up()) return {.what = reading::hung_up};
  // With MSG_TRUNC the length is that of the whole packet, even if it did not fit.
  return {.what = reading::packet, .size = static_cast<std::size_t>(got)};
}

void guard_socket::stop_receiving() {
  ::shutdown(fd(), SHUT_RD);
}

/// An empty packet looks like the end of the connection.
bool guard_socket::hung_up() const {
  pollfd one{.fd = fd(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&one, 1, 0) > 0 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace tenure::guard
