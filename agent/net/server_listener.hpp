#pragma once

#include <cstdint>
#include <list>
#include <optional>

#include "core/clock.hpp"
#include "net/http_server.hpp"
#include "net/server_connection.hpp"
#include "net/unix_socket.hpp"
#include "os/unique_fd.hpp"

namespace tenure::net {

/// A socket that queues clients, and those that were taken from it. On the loop's thread.
class server_listener final : public watched {
  traffic uncounted_;  ///< where nobody asked for the count; outlives the connections

 public:
  /// `file`: what names the socket, if it is a Unix socket.
  server_listener(server_loop& loop, os::unique_fd socket, std::optional<unix_socket> file,
                  http_server::deferring_handler handler, const http_limits& granted,
                  traffic* count);

  void ready(std::uint32_t events) override;
  /// Accepts again, after a pause for want of descriptors.
  void resume();
  /// Accepts nobody any more.
  void close();
  /// Drops clients that do not read while there is too much for them, but not the one that is just
  /// being answered.
  void bound_unread(const server_connection& answered);

  const http_server::deferring_handler answer;
  const http_limits limits;
  traffic& counted;
  std::list<server_connection> connections;  ///< the one that has been waited for the longest first
  std::list<server_connection> readers;      ///< those that are held, or sent a stream
  core::time_point paused_until = core::never;

 private:
  [[nodiscard]] bool make_room();

  server_loop& loop_;
  os::unique_fd socket_;
  std::optional<unix_socket> file_;
};

}  // namespace tenure::net
