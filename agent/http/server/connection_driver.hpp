#pragma once

#include <array>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "base/event_loop.hpp"
#include "base/unique_fd.hpp"
#include "core/clock.hpp"
#include "http/http_message.hpp"
#include "http/server/responder.hpp"
#include "http/server/server_connection.hpp"

namespace tenure::http {

class server_listener;
class server_thread;

/// Drives a `server_connection`: does what it wants on an Asio socket, and passes its requests to
/// the listener's handler. It waits by reading, into a small buffer of its own, as Beast does: to
/// wait until bytes are there, and then read them, costs one more system call an answer.
///
/// Its listener holds a shared pointer to it until it is closed; so does each wait under way. Used
/// on the server's thread.
class connection_driver : public std::enable_shared_from_this<connection_driver> {
 public:
  using owner = std::list<std::shared_ptr<connection_driver>>;

  connection_driver(server_thread& on, server_listener& of, base::unique_fd socket,
                    std::optional<peer_process> peer, std::string network);

  /// Starts waiting for a request. `self`: its place in `server_listener::clients`.
  void start(owner::iterator self);
  /// Called when its turn comes; see `server_thread::enqueue`.
  void go_on();
  /// Called when the server stops.
  void finish();
  /// Closes the connection.
  void drop();

  [[nodiscard]] const server_connection& connection() const { return connection_; }
  /// The client's network, for fair shares; see `network_of`.
  [[nodiscard]] const std::string& network() const { return network_; }

 private:
  friend class server_thread;
  /// Nearly every request is shorter. One that is not is read in parts.
  static constexpr std::size_t read_bytes = 1024;
  using protocol = boost::asio::generic::stream_protocol;
  using stream_socket =
      boost::asio::basic_stream_socket<protocol, boost::asio::io_context::executor_type>;

  core::time_point begin_event();
  void received();
  void proceed(core::time_point now);
  bool send(core::time_point now);
  void ask(const request& what, core::time_point now);
  void answered();
  void settle(core::time_point now);
  void follow();
  void wait_for_bytes();
  void wait_for_room();
  void close();

  server_thread& on_;
  server_listener& of_;
  stream_socket socket_;
  const std::string network_;
  owner::iterator self_{};
  server_connection connection_;
  base::timer deadline_;
  std::shared_ptr<answer_slot> slot_;  ///< for the request that is being answered
  bool awaits_answer_ = false;
  std::array<char, read_bytes> bytes_;  ///< read; taken once the connection wants them
  std::size_t unread_ = 0;              ///< how many of them are left
  boost::system::error_code read_error_{};
  bool awaits_bytes_ = false;
  bool awaits_room_ = false;
  bool queued_ = false;  ///< waits for its turn
};

}  // namespace tenure::http
