// What Boost.Beast alone makes of one answer: the mark for the agent's own server.
//   bare_beast FILE    serves the bytes of FILE as JSON on a port of 127.0.0.1 that it prints
//
// Written as Beast's own example http_server_fast is, which is as fast as Beast gets: callbacks
// instead of coroutines, the executor known to the compiler, messages made anew in the same memory,
// and one timer that is looked at once a second.
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_static_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <list>
#include <optional>
#include <string>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace beast_http = boost::beast::http;
using executor = asio::io_context::executor_type;
using acceptor = asio::basic_socket_acceptor<asio::ip::tcp, executor>;
using socket = asio::basic_stream_socket<asio::ip::tcp, executor>;
using timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, executor>;

constexpr std::chrono::seconds patience{30};
constexpr std::size_t largest_request = 8192;

/// Serves one connection after the other.
class worker {
 public:
  worker(acceptor& from, const std::string& body)
      : acceptor_(from), body_(body), socket_(from.get_executor()), clock_(from.get_executor()) {}

  void start() {
    accept();
    look_at_the_deadline();
  }

 private:
  void accept() {
    beast::error_code ignored;
    socket_.close(ignored);
    buffer_.consume(buffer_.size());
    deadline_ = std::chrono::steady_clock::time_point::max();
    acceptor_.async_accept(socket_, [this](beast::error_code error) {
      if (error) return accept();
      beast::error_code without;
      socket_.set_option(asio::ip::tcp::no_delay(true), without);
      read();
    });
  }

  void read() {
    parser_.emplace();
    deadline_ = std::chrono::steady_clock::now() + patience;
    beast_http::async_read(socket_, buffer_, *parser_,
                           [this](beast::error_code error, std::size_t) {
                             if (error) return accept();
                             answer();
                           });
  }

  void answer() {
    const auto& asked = parser_->get();
    answer_.emplace(beast_http::status::ok, asked.version());
    answer_->set(beast_http::field::content_type, "application/json");
    answer_->set(beast_http::field::cache_control, "no-store");
    answer_->body() = {body_.data(), body_.size()};
    answer_->keep_alive(asked.keep_alive());
    answer_->prepare_payload();
    serializer_.emplace(*answer_);
    beast_http::async_write(socket_, *serializer_, [this](beast::error_code error, std::size_t) {
      const bool again = !error && answer_->keep_alive();
      serializer_.reset();
      answer_.reset();
      if (again) {
        read();
      } else {
        accept();
      }
    });
  }

  void look_at_the_deadline() {
    if (deadline_ <= std::chrono::steady_clock::now()) {
      beast::error_code ignored;
      socket_.close(ignored);
      deadline_ = std::chrono::steady_clock::time_point::max();
    }
    clock_.expires_after(std::chrono::seconds(1));
    clock_.async_wait([this](beast::error_code) { look_at_the_deadline(); });
  }

  using body_type = beast_http::span_body<const char>;

  acceptor& acceptor_;
  const std::string& body_;
  socket socket_;
  timer clock_;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  beast::flat_static_buffer<largest_request> buffer_;
  std::optional<beast_http::request_parser<beast_http::empty_body>> parser_;
  std::optional<beast_http::response<body_type>> answer_;
  std::optional<beast_http::response_serializer<body_type>> serializer_;
};

constexpr int most_connections = 128;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string body{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  asio::io_context io{1};
  acceptor from(io.get_executor(), {asio::ip::make_address("127.0.0.1"), 0});
  std::printf("%u\n", static_cast<unsigned>(from.local_endpoint().port()));
  std::fflush(stdout);
  std::list<worker> workers;
  for (int i = 0; i < most_connections; ++i) workers.emplace_back(from, body).start();
  io.run();
}
