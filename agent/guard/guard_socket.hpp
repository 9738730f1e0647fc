#pragma once

#include <utility>

#include "base/unique_fd.hpp"
#include "guard/packet_socket.hpp"

namespace tenure::guard {

/// A SOCK_SEQPACKET socket.
class guard_socket final : public packet_socket {
 public:
  /// Connects to a new agent.
  void attach(base::unique_fd socket) { socket_ = std::move(socket); }

  /// -1 while it is not open.
  [[nodiscard]] int fd() const { return socket_.get(); }

  [[nodiscard]] bool is_open() const override { return static_cast<bool>(socket_); }
  void close() override { socket_.reset(); }
  [[nodiscard]] bool send(std::span<const std::byte> packet) override;
  [[nodiscard]] received receive(std::span<std::byte> into) override;
  void stop_receiving() override;
  [[nodiscard]] bool hung_up() const override;

 private:
  base::unique_fd socket_;
};

}  // namespace tenure::guard
