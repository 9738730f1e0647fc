#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "http/client/byte_stream.hpp"
#include "http/client/reply_reader.hpp"

namespace tenure::http {

/// A connected stream that carries one exchange after another.
///
/// It always reads. Between two exchanges, the server can only close the connection or send
/// something unasked; both end the connection at once. So a connection that the server has closed
/// is rarely used again, and a late reply is never taken for the next one.
///
/// Owned by a shared pointer, which it holds itself until `close` or its end. Used on its executor
/// only. No handler is called after `close`; each function may be called from within any handler.
class client_connection : public std::enable_shared_from_this<client_connection> {
 public:
  struct exchange {
    reply_reader reader;
    /// Called after each successful read; `reader` has the bytes.
    std::function<void(reply_reader&)> taken;
    /// Called once: the reply is complete, or why it will not be. If the connection is `usable`, it
    /// is ready for another exchange.
    std::move_only_function<void(reply_reader&, std::expected<void, std::string>)> ended;
  };

  client_connection(const boost::asio::any_io_executor& where, std::shared_ptr<byte_stream> over)
      : executor_(where), stream_(std::move(over)), resting_(where) {}

  /// Starts reading. Call once. `gone` is called if the connection ends between two exchanges.
  void start(std::function<void()> gone);

  /// Sends a request. Precondition: `usable`, and no exchange is under way.
  void begin(std::string request, exchange made);

  /// Sends more of the request under way. Ends the exchange if the server does not read.
  void add(std::string bytes);

  /// False once the connection is closed, or if the last reply requires closing it.
  [[nodiscard]] bool usable() const { return open_ && !writing_; }

  /// Asks the kernel whether there are unread bytes.
  [[nodiscard]] bool is_quiet() { return stream_->is_quiet(); }

  /// Pauses reading for this long, after the bytes read so far are processed.
  void pause(core::duration how_long) { pause_ = how_long; }

  void close();

 private:
  boost::asio::awaitable<void> read_until_closed();
  boost::asio::awaitable<bool> rest();
  boost::asio::awaitable<void> write(std::string request);
  bool take(std::expected<std::size_t, std::string> size);
  void end(std::expected<void, std::string> how);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<byte_stream> stream_;
  std::vector<char> buffer_;
  std::shared_ptr<exchange> current_;
  std::function<void()> gone_;
  core::duration pause_{};  ///< before the next read
  boost::asio::steady_timer resting_;
  std::string unsent_;  ///< queued behind the present write
  bool open_ = true;
  bool writing_ = false;
};

}  // namespace tenure::http
