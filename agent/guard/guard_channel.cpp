#include "guard/guard_channel.hpp"

#include <span>

namespace tenure::guard {
namespace {

/// False if the socket is full.
template <class M>
bool send_waiting(packet_socket& socket, std::optional<M>& what) {
  if (!what) return true;
  if (!socket.send(std::as_bytes(std::span(&*what, 1)))) return false;
  what.reset();
  return true;
}

}  // namespace

bool guard_channel::flush() {
  if (!is_open()) return true;
  return std::apply([&](auto&... each) { return (send_waiting(socket_, each) && ...); }, unsent_);
}

guard_channel::reading guard_channel::receive(std::optional<packet>& into) {
  into.reset();
  const auto got = socket_.receive(buffer_);
  if (got.what == reading::packet && got.size <= buffer_.size()) {
    into = parse(std::span(buffer_).first(got.size));
  }
  return got.what;
}

}  // namespace tenure::guard
