#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <cstddef>
#include <expected>
#include <memory>
#include <string>

namespace tenure::http {

/// A connected byte stream to a server: TCP, TLS over TCP, or a Unix socket. OpenSSL is behind this
/// interface.
///
/// At most one read and one write at a time. The stream must live until both have ended; `close`
/// makes them end.
class byte_stream {
 public:
  virtual ~byte_stream() = default;

  /// Makes the stream ready for use; call it first. The error says what went wrong and what to do.
  virtual boost::asio::awaitable<std::expected<void, std::string>> handshake() = 0;

  /// Reads at least one byte, or returns 0 if the server has closed in an orderly way. The error
  /// says why no more will come.
  virtual boost::asio::awaitable<std::expected<std::size_t, std::string>> read_some(
      boost::asio::mutable_buffer into) = 0;

  /// Writes all bytes. False on failure, whose reason the next `read_some` returns.
  virtual boost::asio::awaitable<bool> write(boost::asio::const_buffer all) = 0;

  virtual void close() = 0;

  /// True if the server has sent nothing since the last read, not even its end. Asks the kernel.
  [[nodiscard]] virtual bool is_quiet() = 0;
};

std::shared_ptr<byte_stream> make_plain_stream(
    boost::asio::generic::stream_protocol::socket connected);

/// "Connection reset by peer (ECONNRESET)", for the error of a socket operation.
std::string error_text(const boost::system::error_code& error);

}  // namespace tenure::http
