#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <cstddef>
#include <expected>
#include <memory>
#include <string>

namespace tenure::http {

/// A connected pair of pipes to a server: TCP, TLS over it, or a Unix socket. The seam behind which
/// OpenSSL is.
///
/// At most one read and one write at a time. It must live until both have ended; `close` makes
/// them end.
class byte_stream {
 public:
  virtual ~byte_stream() = default;

  /// Makes it ready for use. Nothing else may be called before. The error says what went wrong and
  /// what to do.
  virtual boost::asio::awaitable<std::expected<void, std::string>> handshake() = 0;

  /// Some bytes, at least one; or 0 if the server has closed in an orderly way. The error says
  /// why there will be no more.
  virtual boost::asio::awaitable<std::expected<std::size_t, std::string>> read_some(
      boost::asio::mutable_buffer into) = 0;

  /// All of the bytes, or false: why is for the next `read_some` to say.
  virtual boost::asio::awaitable<bool> write(boost::asio::const_buffer all) = 0;

  virtual void close() = 0;

  /// True if the server has sent nothing since the last read, not even its end. Asks the kernel.
  [[nodiscard]] virtual bool is_quiet() = 0;
};

std::shared_ptr<byte_stream> make_plain_stream(
    boost::asio::generic::stream_protocol::socket connected);

/// "Connection reset by peer (ECONNRESET)", for what a socket's operation ended with.
std::string error_text(const boost::system::error_code& error);

}  // namespace tenure::http
