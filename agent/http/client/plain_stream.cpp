#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <utility>

#include "base/error_text.hpp"
#include "http/client/as_values.hpp"
#include "http/client/byte_stream.hpp"
#include "http/client/client_socket.hpp"

namespace tenure::http {
namespace {

namespace asio = boost::asio;

class plain_stream : public byte_stream {
 public:
  explicit plain_stream(asio::generic::stream_protocol::socket connected)
      : socket_(std::move(connected)) {}

  asio::awaitable<std::expected<void, std::string>> handshake() override {
    co_return std::expected<void, std::string>();
  }

  asio::awaitable<std::expected<std::size_t, std::string>> read_some(
      asio::mutable_buffer into) override {
    const auto [error, size] = co_await socket_.async_read_some(into, as_values);
    if (error == asio::error::eof) co_return std::size_t{0};
    if (error) co_return std::unexpected(error_text(error));
    co_return size;
  }

  asio::awaitable<bool> write(asio::const_buffer all) override {
    const auto [error, size] = co_await asio::async_write(socket_, all, as_values);
    co_return !error;
  }

  void close() override { socket_.close(); }

  bool is_quiet() override { return socket_.is_quiet(); }

 private:
  client_socket socket_;
};

}  // namespace

std::shared_ptr<byte_stream> make_plain_stream(asio::generic::stream_protocol::socket connected) {
  return std::make_shared<plain_stream>(std::move(connected));
}

bool client_socket::is_quiet() {
  char one = 0;
  return ::recv(socket_.native_handle(), &one, sizeof one, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         errno == EAGAIN;
}

std::string error_text(const boost::system::error_code& error) {
  if (error.category() == boost::system::system_category()) return base::error_text(error.value());
  return error.message();
}

}  // namespace tenure::http
