#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <ctime>
#include <list>
#include <memory>
#include <optional>

#include "base/event_loop.hpp"
#include "base/unique_fd.hpp"
#include "http/server/connection_driver.hpp"
#include "http/server/http_server.hpp"
#include "http/server/server_connection.hpp"
#include "http/server/unix_socket.hpp"

namespace tenure::http {

/// A listening socket and the connections accepted from it. Used on the server's thread.
class server_listener {
  traffic uncounted_;  ///< used if the caller does not count; outlives the connections

 public:
  /// `file`: the socket's name, if it is a Unix socket.
  server_listener(server_thread& on, base::unique_fd socket, std::optional<unix_socket> file,
                  http_server::deferring_handler handler, const http_limits& limits,
                  traffic* count);

  /// Starts accepting.
  void start();
  /// Stops accepting.
  void close();
  /// Drops clients that do not read while more than `http_limits::unread_bytes` wait for them,
  /// except `answered`, whose answer was just made.
  void bound_unread(const connection_driver& answered);
  /// Sets `group.date` to the present second. Call before each event of a connection.
  void keep_date();
  /// Removes a closed connection.
  void forget(connection_driver::owner::iterator which);

  const http_server::deferring_handler answer;
  connection_group group;
  connection_driver::owner clients;

 private:
  using acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol,
                                                      boost::asio::io_context::executor_type>;

  void accept();
  [[nodiscard]] bool make_room();

  server_thread& on_;
  acceptor acceptor_;
  std::optional<unix_socket> file_;
  base::timer pause_;
  std::time_t date_of_ = -1;
};

}  // namespace tenure::http
