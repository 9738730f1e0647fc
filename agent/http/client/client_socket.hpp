#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <utility>

namespace tenure::http {

/// A TCP or Unix socket that takes bytes from the kernel only when it can hand them on at once.
///
/// Asio's own socket takes bytes when a read begins, or when its reactor looks, and hands them on
/// in a later turn of the loop. In between, neither the kernel nor the reader shows them. An idle
/// connection would look fit for the next request although its end, or an unasked reply, has been
/// taken already.
///
/// Meets Asio's requirements for composed operations and `ssl::stream`.
class client_socket {
 public:
  using lowest_layer_type = boost::asio::generic::stream_protocol::socket;
  using executor_type = lowest_layer_type::executor_type;

  explicit client_socket(lowest_layer_type connected) : socket_(std::move(connected)) {
    boost::system::error_code ignored;
    socket_.non_blocking(true, ignored);
  }

  executor_type get_executor() { return socket_.get_executor(); }
  lowest_layer_type& lowest_layer() { return socket_; }
  [[nodiscard]] const lowest_layer_type& lowest_layer() const { return socket_; }

  /// Asio's AsyncReadStream.
  template <class Buffers, class Token>
  auto async_read_some(const Buffers& into, Token&& token) {
    return boost::asio::async_compose<Token, void(boost::system::error_code, std::size_t)>(
        [this, into, waited = false](auto& self, boost::system::error_code error = {}) mutable {
          if (error) return self.complete(error, 0);
          if (std::exchange(waited, true)) {
            const std::size_t size = socket_.read_some(into, error);
            if (error != boost::asio::error::would_block) return self.complete(error, size);
          } else if (boost::asio::buffer_size(into) == 0) {
            // `ssl::stream` expects a later call when the bytes are there already.
            return boost::asio::post(socket_.get_executor(), std::move(self));
          }
          socket_.async_wait(lowest_layer_type::wait_read, std::move(self));
        },
        token, socket_);
  }

  /// Asio's AsyncWriteStream.
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& from, Token&& token) {
    return socket_.async_write_some(from, std::forward<Token>(token));
  }

  void close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

  /// True if nothing has arrived that was not read, neither bytes nor the server's end. Asks the
  /// kernel.
  [[nodiscard]] bool is_quiet();

 private:
  lowest_layer_type socket_;
};

}  // namespace tenure::http
