// What Boost.Beast alone makes of one answer: the mark for the agent's own server.
//   bare_beast FILE    serves the bytes of FILE as JSON on a port of 127.0.0.1 that it prints
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr auto as_values = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds deadline{30};

asio::awaitable<void> serve(tcp::socket client, const std::string& body) {
  beast::tcp_stream stream(std::move(client));
  beast::flat_buffer buffer;
  while (true) {
    http::request<http::empty_body> asked;
    stream.expires_after(deadline);
    if (const auto [error, size] = co_await http::async_read(stream, buffer, asked, as_values);
        error) {
      co_return;
    }
    http::response<http::string_body> answer(http::status::ok, asked.version());
    answer.set(http::field::content_type, "application/json");
    answer.set(http::field::cache_control, "no-store");
    answer.body() = body;
    answer.keep_alive(asked.keep_alive());
    answer.prepare_payload();
    if (const auto [error, size] = co_await http::async_write(stream, answer, as_values); error) {
      co_return;
    }
    if (!asked.keep_alive()) co_return;
  }
}

asio::awaitable<void> accept(tcp::acceptor& from, const std::string& body) {
  while (true) {
    auto [error, client] = co_await from.async_accept(as_values);
    if (error) co_return;
    boost::system::error_code ignored;
    client.set_option(tcp::no_delay(true), ignored);
    asio::co_spawn(from.get_executor(), serve(std::move(client), body), asio::detached);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string body{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  asio::io_context io{1};
  tcp::acceptor acceptor(io, {asio::ip::make_address("127.0.0.1"), 0});
  std::printf("%u\n", static_cast<unsigned>(acceptor.local_endpoint().port()));
  std::fflush(stdout);
  asio::co_spawn(io, accept(acceptor, body), asio::detached);
  io.run();
}
