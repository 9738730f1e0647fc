#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "core/word.hpp"
#include "http/asio_loop.hpp"
#include "settings/listen_address.hpp"

namespace tenure::peer {

/// How agents tell each other a word (decision 43). What is sent may be lost, come late, come twice
/// or come from somebody else: the agent that hears it looks for proof.
class channel {
 public:
  using handler = std::function<void(const core::word&)>;

  virtual ~channel() = default;

  /// Where other members reach this channel, as `tell` takes it.
  [[nodiscard]] virtual std::string address() const = 0;

  /// Sends a word, once, to the channel at `to`. Does not wait, and reports nothing.
  virtual void tell(const std::string& to, const core::word& what) = 0;
};

/// Receives UDP datagrams at an address, and calls `heard` on the loop for each that is a word.
/// More of them than a cluster needs are dropped unread. The error says why the address cannot be
/// used. The loop outlives the channel.
std::expected<std::unique_ptr<channel>, std::string> open_udp_channel(
    http::asio_loop& on, const settings::listen_address& at, channel::handler heard);

}  // namespace tenure::peer
