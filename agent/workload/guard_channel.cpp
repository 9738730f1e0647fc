#include "workload/guard_channel.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace tenure::workload {
namespace {

/// False if the socket is full. Any other failure means that nobody is there to read it, which
/// the guard learns from the death of the agent.
template <class M>
bool send_waiting(int socket, std::optional<M>& what) {
  if (!what) return true;
  if (::send(socket, &*what, sizeof *what, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
      (errno == EAGAIN || errno == ENOBUFS)) {
    return false;
  }
  what.reset();
  return true;
}

}  // namespace

bool guard_channel::flush() {
  if (!is_open()) return true;
  return std::apply([&](auto&... each) { return (send_waiting(fd(), each) && ...); }, unsent_);
}

guard_channel::reading guard_channel::receive(std::optional<packet>& into) {
  into.reset();
  const ssize_t got = ::recv(fd(), buffer_.data(), buffer_.size(), MSG_DONTWAIT | MSG_TRUNC);
  if (got < 0) return errno == ECONNRESET ? reading::hung_up : reading::nothing;
  if (got == 0) return hung_up() ? reading::hung_up : reading::packet;
  // MSG_TRUNC: the length is that of the packet, also of one that did not fit.
  const auto size = static_cast<std::size_t>(got);
  if (size <= buffer_.size()) into = parse(std::span(buffer_).first(size));
  return reading::packet;
}

/// An empty packet reads like the end of the connection.
bool guard_channel::hung_up() const {
  pollfd one{.fd = fd(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&one, 1, 0) > 0 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace tenure::workload
