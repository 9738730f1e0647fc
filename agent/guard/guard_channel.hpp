#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>

#include "guard/guard_protocol.hpp"
#include "guard/packet_socket.hpp"

namespace tenure::guard {

/// The guard's side of its messages with the agent. Never waits and never allocates.
///
/// An agent that does not read cannot block the guard: each kind of message has one place, where
/// the newest waits until the socket takes it. No message that matters is lost, because the guard
/// does not start a workload before the agent was told that the previous one ended.
class guard_channel {
 public:
  explicit guard_channel(packet_socket& over) : socket_(over) {}

  /// A new agent: drops messages that were not sent to the previous one.
  void begin() { unsent_ = {}; }

  /// The agent is dead or has hung up.
  void close() {
    socket_.close();
    unsent_ = {};
  }

  [[nodiscard]] bool is_open() const { return socket_.is_open(); }

  /// Queues the message for the next `flush`.
  template <guard_message M>
  void say(const M& what) {
    if (is_open()) std::get<std::optional<M>>(unsent_) = sealed(what);
  }

  /// Drops unsent news of the workload: another message contains it.
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

  /// Sends as much as the socket takes. False if something is left until it is writable.
  bool flush();

  /// From now on the agent can send nothing. What it has sent can still be read.
  void stop_receiving() {
    if (is_open()) socket_.stop_receiving();
  }

  /// True if the other end is closed or can send nothing; there may be packets left to read.
  [[nodiscard]] bool hung_up() const { return socket_.hung_up(); }

  using reading = packet_socket::reading;

  /// Reads one message. `into` is empty if it was malformed; it points into a buffer that the next
  /// call overwrites.
  [[nodiscard]] reading receive(std::optional<packet>& into);

 private:
  packet_socket& socket_;
  /// Sent in this order. That the guard was told to end comes before the end of the workload, which
  /// else the agent would take for the workload's own doing.
  std::tuple<std::optional<message::guard_hello>, std::optional<message::started>,
             std::optional<message::start_failed>, std::optional<message::survives>,
             std::optional<message::signalled>, std::optional<message::exited>,
             std::optional<message::refused>>
      unsent_;
  alignas(8) std::array<std::byte, max_message_bytes> buffer_;
};

}  // namespace tenure::guard
