#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tenure::guard {

/// The guard's end of its connection to an agent: whole packets, in order. `guard_socket` is the
/// real implementation. Never waits and never allocates.
class packet_socket {
 public:
  virtual ~packet_socket() = default;

  /// True from the connection of an agent until `close`.
  [[nodiscard]] virtual bool is_open() const = 0;
  virtual void close() = 0;

  /// False if there is no room now. A packet to a closed peer counts as sent.
  [[nodiscard]] virtual bool send(std::span<const std::byte> packet) = 0;

  enum class reading : std::uint8_t { packet, nothing, hung_up };
  struct received {
    reading what = reading::nothing;
    std::size_t size = 0;  ///< the size of the whole packet, even if it did not fit
  };
  /// Takes the next packet. `hung_up` follows the last one.
  [[nodiscard]] virtual received receive(std::span<std::byte> into) = 0;

  /// From now on the other end can send nothing. What it has sent can still be read.
  virtual void stop_receiving() = 0;

  /// True if the other end is closed or can send nothing; there may be packets left to read.
  [[nodiscard]] virtual bool hung_up() const = 0;
};

}  // namespace tenure::guard
