#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>

#include "guard/guard_protocol.hpp"
#include "guard/packet_socket.hpp"

namespace tenure::guard {

/// What guard and agent say to each other, as the guard sends and reads it. Never waits and never
/// allocates.
///
/// An agent that does not read cannot hold the guard up: each kind of message has one place,
/// where the newest waits until the socket takes it. That loses nothing that matters, because the
/// guard does not start a workload before the agent was told of the end of the one before.
class guard_channel {
 public:
  explicit guard_channel(packet_socket& over) : socket_(over) {}

  /// What was not sent to the agent before the present one is forgotten.
  void begin() { unsent_ = {}; }

  /// The agent is dead, or hung up.
  void close() {
    socket_.close();
    unsent_ = {};
  }

  [[nodiscard]] bool is_open() const { return socket_.is_open(); }

  /// Sends the message with the next `flush`.
  template <guard_message M>
  void say(const M& what) {
    if (is_open()) std::get<std::optional<M>>(unsent_) = sealed(what);
  }

  /// What was not sent yet of the workload is said in another way.
  void forget_news() {
    const auto kept = std::get<std::optional<message::signalled>>(unsent_);
    unsent_ = {};
    std::get<std::optional<message::signalled>>(unsent_) = kept;
  }

  /// True while a message of this kind waits to be sent.
  template <guard_message M>
  [[nodiscard]] bool waits() const {
    return std::get<std::optional<M>>(unsent_).has_value();
  }

  /// Sends what the socket takes. False if something is left for when it is writable.
  bool flush();

  /// True if nobody is at the other end any more; there may be something left to read.
  [[nodiscard]] bool hung_up() const { return socket_.hung_up(); }

  using reading = packet_socket::reading;

  /// Takes one message off the socket. `into` is empty if it was garbage, and points into a
  /// buffer that the next call overwrites.
  [[nodiscard]] reading receive(std::optional<packet>& into);

 private:
  packet_socket& socket_;
  /// In the order in which they are sent.
  std::tuple<std::optional<message::guard_hello>, std::optional<message::started>,
             std::optional<message::start_failed>, std::optional<message::survives>,
             std::optional<message::exited>, std::optional<message::refused>,
             std::optional<message::signalled>>
      unsent_;
  alignas(8) std::array<std::byte, max_message_bytes> buffer_;
};

}  // namespace tenure::guard
