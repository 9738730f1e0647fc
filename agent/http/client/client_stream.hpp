#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "http/client/client_connection.hpp"
#include "http/client/client_route.hpp"
#include "http/client/http_client.hpp"

namespace tenure::http {

/// The error that both kinds of requests report for a redirect; nothing if the reply is not one.
std::optional<std::string> redirect_text(const reply_head& head);

/// One endless reply: its connection, its deadline, its handlers.
///
/// Owned by a shared pointer. Nothing is called after `stop`.
class client_stream : public std::enable_shared_from_this<client_stream> {
 public:
  client_stream(const boost::asio::any_io_executor& where, std::shared_ptr<client_route> route,
                const client_limits& limits, stream_handlers on);

  /// Call once.
  void start(const client_request& what, core::time_point head_deadline);

  /// Sends more of the body of an open request.
  void send(std::string_view more);

  /// Reads nothing more for this long.
  void pause(core::duration how_long);

  void stop();

 private:
  void connected(client_dialer::result reached);
  void taken(reply_reader& reader);
  void too_late();
  void fail(std::string why);
  void end(std::optional<client_error> how);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<client_route> route_;
  client_limits limits_;
  stream_handlers on_;
  std::string summary_;
  std::expected<std::string, std::string> request_;
  bool is_head_ = false;
  bool is_open_ = false;  ///< the request
  bool has_head_ = false;
  bool over_ = false;
  boost::asio::steady_timer deadline_;
  std::shared_ptr<client_dialer> dialer_;
  std::shared_ptr<client_connection> connection_;
};

/// The handle that `http_client::stream` returns: destroying it stops the stream.
std::unique_ptr<http_stream> stream_handle(std::shared_ptr<client_stream> of);

}  // namespace tenure::http
