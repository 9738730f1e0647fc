#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "core/clock.hpp"
#include "http/client/byte_stream.hpp"
#include "http/client/host_addresses.hpp"
#include "http/tls/tls_context.hpp"
#include "settings/endpoint.hpp"

namespace tenure::http {

/// What all connections of a client share: their destination.
struct client_route {
  client_route(const boost::asio::any_io_executor& where, settings::endpoint to, tls_settings tls)
      : server(std::move(to)), addresses(where, server), secrets(std::move(tls)) {}

  settings::endpoint server;
  host_addresses addresses;
  tls_context secrets;
};

/// Sets an Asio timer for an instant of CLOCK_BOOTTIME. Precondition: not "never".
void expire_at(boost::asio::steady_timer& timer, core::time_point when);

/// One attempt to connect. Connects to the Unix socket, if there is one. Otherwise looks the name
/// up if its addresses are unknown, and tries them in turn, each with a share of the remaining
/// time, so that an address that never answers does not use up all of it.
///
/// Owned by a shared pointer, which `run` holds until it ends; it ends soon after `stop`.
class client_dialer : public std::enable_shared_from_this<client_dialer> {
 public:
  using result = std::expected<std::shared_ptr<byte_stream>, std::string>;

  client_dialer(const boost::asio::any_io_executor& where, std::shared_ptr<client_route> route);

  /// Call once. `done` is called on the executor, not from within this call, and not after `stop`.
  /// The error says what happened at each address, and what to do.
  void run(core::time_point deadline, std::move_only_function<void(result)> done);

  void stop();

  /// Stops because the time is over, and looks the name up for the next attempt, as it may have
  /// moved.
  void give_up();

  /// "connecting to 10.0.0.1:2379": for the text of a timeout.
  [[nodiscard]] const std::string& doing() const { return doing_; }

 private:
  boost::asio::awaitable<result> dial(core::time_point deadline);
  boost::asio::awaitable<result> dial_socket(core::time_point deadline);
  boost::asio::awaitable<std::expected<void, std::string>> learn_addresses(
      core::time_point deadline);
  boost::asio::awaitable<result> reach(boost::asio::generic::stream_protocol::endpoint address,
                                       std::string named, core::time_point until);
  boost::asio::awaitable<result> connect(boost::asio::generic::stream_protocol::endpoint address,
                                         std::string named);
  boost::asio::awaitable<result> secure();
  void drop();

  boost::asio::any_io_executor executor_;
  std::shared_ptr<client_route> route_;
  boost::asio::steady_timer timer_;
  boost::asio::generic::stream_protocol::socket socket_;
  std::shared_ptr<byte_stream> stream_;
  std::move_only_function<void(result)> done_;
  std::string doing_ = "connecting";
  unsigned round_ = 0;  ///< tells the timers of successive addresses apart
  bool stopped_ = false;
};

}  // namespace tenure::http
