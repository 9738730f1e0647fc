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

/// A connected stream on which one exchange after the other takes place.
///
/// It always reads: what comes between two exchanges is the server's end of it, or something that
/// nobody asked for, and either ends it at once; so a connection that the server has closed is
/// rarely used again, and a reply that comes too late is never taken for the next one.
///
/// Owned by a shared pointer, which it holds itself until `close` or its end. Used on its executor
/// only. Nothing is called after `close`; each function may be called from within any handler.
class client_connection : public std::enable_shared_from_this<client_connection> {
 public:
  struct exchange {
    reply_reader reader;
    /// After each read, if there was no error; `reader` has what has come.
    std::function<void(reply_reader&)> taken;
    /// Once: the reply is complete, or why it will not be. The connection is ready for another
    /// exchange if it is `usable`.
    std::move_only_function<void(reply_reader&, std::expected<void, std::string>)> ended;
  };

  client_connection(const boost::asio::any_io_executor& where, std::shared_ptr<byte_stream> over)
      : executor_(where), stream_(std::move(over)), resting_(where) {}

  /// Begins to read. Once. `gone` is called if it ends between two exchanges.
  void start(std::function<void()> gone);

  /// Sends a request. Precondition: `usable`, and no exchange is under way.
  void begin(std::string request, exchange made);

  /// More of the request that is under way. Ends the exchange if the server does not read.
  void add(std::string bytes);

  /// False once it is closed, or is to be because of what the last reply said.
  [[nodiscard]] bool usable() const { return open_ && !writing_; }

  /// Asks the kernel whether something has come that was not read yet.
  [[nodiscard]] bool is_quiet() { return stream_->is_quiet(); }

  /// Reads nothing for this long, once what has been read is taken.
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
  std::string unsent_;  ///< behind what is being written
  bool open_ = true;
  bool writing_ = false;
};

}  // namespace tenure::http
