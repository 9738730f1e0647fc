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
  const ssize_t got = ::recv(fd(), into.data(), into.size(), MSG_DONTWAIT | MSG_TRUNC);
  if (got < 0) return {.what = errno == ECONNRESET ? reading::hung_up : reading::nothing};
  if (got == 0 && hung_up()) return {.what = reading::hung_up};
  // With MSG_TRUNC the length is that of the whole packet, even if it did not fit.
  return {.what = reading::packet, .size = static_cast<std::size_t>(got)};
}

/// An empty packet looks like the end of the connection.
bool guard_socket::hung_up() const {
  pollfd one{.fd = fd(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&one, 1, 0) > 0 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace tenure::guard
