#include "net/http_server.hpp"

#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "core/check.hpp"
#include "net/listening_socket.hpp"
#include "net/response_text.hpp"

namespace tenure::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

/// Room for the first bytes of a request; what most requests fit into.
constexpr std::size_t first_read_bytes = 512;
/// After the last answer the client's remaining bytes are read and dropped for this long, up to
/// this many: closing with unread bytes makes the kernel send a reset, and the client may then
/// never see the answer.
constexpr std::chrono::milliseconds linger_limit{1'000};
constexpr std::size_t linger_bytes = 64 * 1024;
/// Pause before the next accept if the process has no descriptor left.
constexpr std::chrono::milliseconds accept_pause{100};

/// Operations end with a value, never an exception.
constexpr auto as_values = asio::as_tuple(asio::use_awaitable);

enum class stage : std::uint8_t { waiting, reading, answering, lingering, closed };

struct connection {
  connection(tcp::socket socket, const http_limits& limits)
      : stream(std::move(socket)), received(limits.header_bytes) {}

  beast::tcp_stream stream;
  beast::flat_buffer received;
  std::shared_ptr<asio::steady_timer> answer_timer;  ///< while an answer is given later
  stage at = stage::waiting;

  void close() {
    at = stage::closed;
    stream.close();
    if (answer_timer) answer_timer->cancel();
  }
};

struct listener {
  tcp::acceptor acceptor;
  asio::steady_timer pause;
  http_server::deferring_handler answer;
  http_limits limits;
  std::list<connection> connections;  ///< the one that has been waited for the longest first
};

/// What we say to what is not a request. Constant words: nothing in them needs escaping.
struct rejection {
  unsigned status;
  std::string_view code;
  std::string_view message;
  std::string_view action;
};

struct received_request {
  request what;
  bool head = false;
  bool last = false;  ///< the client wants the connection closed afterwards
};

struct hung_up {};  ///< closed, reset, or too slow

using incoming = std::variant<received_request, rejection, hung_up>;

response to_response(const rejection& why) {
  response out{.status = why.status};
  out.body.append(R"({"error":{"code":")").append(why.code);
  out.body.append(R"(","message":")").append(why.message);
  out.body.append(R"(","action":")").append(why.action).append("\"}}\n");
  return out;
}

rejection bad_request(std::string_view message) {
  return {.status = 400,
          .code = "bad_request",
          .message = message,
          .action = "send an HTTP/1.1 request, e.g. GET /v1/elections"};
}

/// Our table of Beast's errors; whatever is not in it came from the connection.
incoming failed_read(const beast::error_code& error) {
  if (error == http::error::end_of_stream || error == http::error::partial_message) {
    return hung_up{};
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return rejection{.status = 431,
                     .code = "headers_too_large",
                     .message = "request line and headers are larger than this listener accepts",
                     .action = "send fewer or shorter headers"};
  }
  if (error == http::error::body_limit) {
    return rejection{.status = 413,
                     .code = "body_too_large",
                     .message = "the request body is larger than this listener accepts",
                     .action = "send a smaller body"};
  }
  if (error.category() == http::make_error_code(http::error::bad_method).category()) {
    return bad_request("this is not HTTP/1.1");
  }
  return hung_up{};
}

using parsed = http::request<http::string_body>;

std::optional<std::string> value_of(const parsed& from, http::field name) {
  const auto found = from.find(name);
  if (found == from.end()) return std::nullopt;
  return std::string(found->value());
}

incoming to_request(parsed from) {
  auto target = parse_target(from.target());
  if (!target) return bad_request(target.error());
  const bool is_http_1_1 = from.version() >= 11;
  if (from.count(http::field::host) > 1) return bad_request("there is more than one Host header");
  if (is_http_1_1 && from.count(http::field::host) == 0) {
    return bad_request("the Host header is missing");
  }
  received_request out;
  out.head = from.method() == http::verb::head;
  out.last = !is_http_1_1 || !from.keep_alive();
  out.what.method = std::string(from.method_string());
  out.what.host = target->host ? target->host : value_of(from, http::field::host);
  out.what.origin = value_of(from, http::field::origin);
  out.what.accept = value_of(from, http::field::accept);
  out.what.authorization = value_of(from, http::field::authorization);
  out.what.if_none_match = value_of(from, http::field::if_none_match);
  out.what.target = std::move(*target);
  out.what.body = std::move(from.body());
  return out;
}

asio::awaitable<incoming> receive(const http_limits& limits, connection& from) {
  if (from.received.size() == 0) {
    from.at = stage::waiting;
    from.received.shrink_to_fit();
    from.stream.expires_after(limits.idle);
    const auto [error, size] =
        co_await from.stream.async_read_some(from.received.prepare(first_read_bytes), as_values);
    if (error) co_return hung_up{};
    from.received.commit(size);
  }
  if (from.at == stage::closed) co_return hung_up{};
  from.at = stage::reading;
  from.stream.expires_after(limits.read);
  http::request_parser<http::string_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  parser.body_limit(limits.body_bytes);
  const auto [error, size] =
      co_await http::async_read(from.stream, from.received, parser, as_values);
  if (error) co_return failed_read(error);
  co_return to_request(parser.release());
}

/// Has the handler answer, and waits for that if it does so later.
asio::awaitable<response> answer_to(const request& asked, const listener& of, connection& with) {
  // Shared with what wakes us: it may still be on its way when the connection has gone.
  const auto timer = std::make_shared<asio::steady_timer>(with.stream.get_executor());
  const auto slot = std::make_shared<answer_slot>(
      [timer] { asio::post(timer->get_executor(), [timer] { timer->cancel(); }); });
  of.answer(asked, responder(slot));
  if (!slot->settled()) {
    timer->expires_after(of.limits.answer);
    with.answer_timer = timer;
    co_await timer->async_wait(as_values);
    with.answer_timer.reset();
  }
  if (auto given = slot->close()) co_return std::move(*given);
  co_return to_response({.status = 503,
                         .code = "no_answer",
                         .message = "the agent did not come to an answer in time",
                         .action = "try again; see the agent's log if this lasts"});
}

asio::awaitable<void> linger(connection& with) {
  with.at = stage::lingering;
  beast::error_code ignored;
  with.stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
  with.received.clear();
  with.stream.expires_after(linger_limit);
  for (std::size_t dropped = 0; dropped < linger_bytes;) {
    const auto [error, size] =
        co_await with.stream.async_read_some(with.received.prepare(first_read_bytes), as_values);
    if (error) co_return;
    dropped += size;
  }
}

/// Best effort: who is refused for want of room gets no further attention.
void refuse(const os::unique_fd& client) {
  static const std::string words =
      response_text(to_response({.status = 503,
                                 .code = "too_many_connections",
                                 .message = "all connections of this listener are busy",
                                 .action = "close connections that are not needed, and try again"}),
                    {.last = true}, std::time(nullptr));
  ::send(client.get(), words.data(), words.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

struct http_server::state {
  asio::io_context io{1};
  asio::steady_timer shutdown_timer{io};
  std::list<listener> listeners;
  bool stopping = false;
  std::thread thread;

  asio::awaitable<void> accept(listener& from);
  void admit(listener& to, os::unique_fd client);
  asio::awaitable<void> serve(listener& of, std::list<connection>::iterator which);
  void ended(listener& of, std::list<connection>::iterator which);
  void begin_shutdown();
};

asio::awaitable<void> http_server::state::accept(listener& from) {
  while (!stopping) {
    // Waited for here, but accepted by accept4: Asio's accept would leave a moment in which a
    // workload that is being started inherits the connection.
    const auto [error] = co_await from.acceptor.async_wait(tcp::acceptor::wait_read, as_values);
    if (stopping) co_return;
    auto client =
        error ? std::unexpected(error.value()) : accept_client(from.acceptor.native_handle());
    if (client) {
      admit(from, std::move(*client));
    } else if (client.error() != EAGAIN && client.error() != ECONNABORTED) {
      from.pause.expires_after(accept_pause);
      co_await from.pause.async_wait(as_values);
    }
  }
}

void http_server::state::admit(listener& to, os::unique_fd client) {
  const auto is_open = [](const connection& c) { return c.at != stage::closed; };
  const auto open = std::ranges::count_if(to.connections, is_open);
  if (static_cast<std::size_t>(open) >= to.limits.connections) {
    const auto victim = std::ranges::find_if(to.connections, [&](const connection& c) {
      return is_open(c) && c.at != stage::answering;
    });
    if (victim == to.connections.end()) return refuse(client);
    victim->close();
  }
  const tcp protocol = to.acceptor.local_endpoint().address().is_v6() ? tcp::v6() : tcp::v4();
  const auto which = to.connections.emplace(to.connections.end(),
                                            tcp::socket(io, protocol, client.release()), to.limits);
  asio::co_spawn(io, serve(to, which),
                 [this, &to, which](std::exception_ptr) { ended(to, which); });
}

asio::awaitable<void> http_server::state::serve(listener& of,
                                                std::list<connection>::iterator which) {
  connection& with = *which;
  for (std::size_t requests = 1;; ++requests) {
    const incoming in = co_await receive(of.limits, with);
    if (std::holds_alternative<hung_up>(in) || with.at == stage::closed) co_return;
    with.at = stage::answering;

    const auto* asked = std::get_if<received_request>(&in);
    // Whoever answers has a deadline of its own.
    with.stream.expires_never();
    response answer;
    if (asked != nullptr) {
      answer = co_await answer_to(asked->what, of, with);
    } else {
      answer = to_response(std::get<rejection>(in));
    }
    if (with.at == stage::closed) co_return;
    const bool last = asked == nullptr || asked->last || stopping ||
                      requests >= of.limits.requests_per_connection;
    const std::string words = response_text(
        answer, {.head = asked != nullptr && asked->head, .last = last}, std::time(nullptr));
    with.stream.expires_after(of.limits.write);
    const auto [error, size] =
        co_await asio::async_write(with.stream, asio::buffer(words), as_values);
    if (error || stopping) co_return;
    if (last) co_return co_await linger(with);
    of.connections.splice(of.connections.end(), of.connections, which);
  }
}

void http_server::state::ended(listener& of, std::list<connection>::iterator which) {
  of.connections.erase(which);
  const auto is_idle = [](const listener& l) { return l.connections.empty(); };
  if (stopping && std::ranges::all_of(listeners, is_idle)) shutdown_timer.cancel();
}

void http_server::state::begin_shutdown() {
  stopping = true;
  bool busy = false;
  for (listener& l : listeners) {
    beast::error_code ignored;
    l.acceptor.close(ignored);
    l.pause.cancel();
    for (connection& c : l.connections) {
      const bool may_finish = c.at == stage::reading || c.at == stage::answering;
      if (!may_finish) c.close();
      busy = busy || may_finish;
    }
  }
  if (!busy) return;
  shutdown_timer.expires_after(shutdown_limit);
  shutdown_timer.async_wait([this](const beast::error_code& error) {
    if (error) return;
    for (listener& l : listeners) {
      for (connection& c : l.connections) c.close();
    }
  });
}

http_server::http_server() : state_(std::make_unique<state>()) {}

http_server::~http_server() {
  shutdown();
}

std::expected<listen_address, listen_error> http_server::listen_on(const listen_address& where,
                                                                   handler answer,
                                                                   http_limits limits) {
  TENURE_CHECK(answer);
  return listen_on(
      where,
      deferring_handler([answer = std::move(answer)](const request& asked, responder respond) {
        respond(answer(asked));
      }),
      limits);
}

std::expected<listen_address, listen_error> http_server::listen_on(const listen_address& where,
                                                                   deferring_handler answer,
                                                                   http_limits limits) {
  TENURE_CHECK(answer && !state_->thread.joinable());
  TENURE_CHECK(limits.header_bytes >= first_read_bytes && limits.connections > 0);
  auto socket = open_listening_socket(where);
  if (!socket) return std::unexpected(std::move(socket.error()));
  const tcp protocol = socket->is_ipv6 ? tcp::v6() : tcp::v4();
  state_->listeners.push_back(
      {.acceptor = tcp::acceptor(state_->io, protocol, socket->fd.release()),
       .pause = asio::steady_timer(state_->io),
       .answer = std::move(answer),
       .limits = limits,
       .connections = {}});
  return socket->bound;
}

std::expected<void, std::string> http_server::start() {
  TENURE_CHECK(!state_->thread.joinable() && !state_->stopping);
  // Signals are for the threads that act on them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::expected<void, std::string> started;
  try {
    state_->thread = std::thread([s = state_.get()] {
      ::pthread_setname_np(::pthread_self(), "tenure-http");
      for (listener& l : s->listeners) {
        asio::co_spawn(s->io, s->accept(l), [](std::exception_ptr) {});
      }
      s->io.run();
    });
  } catch (const std::system_error& error) {
    started = std::unexpected("cannot start the serving thread: " + std::string(error.what()) +
                              "; is the limit of processes (pids) reached?");
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void http_server::shutdown() {
  if (!state_->thread.joinable()) return;
  asio::post(state_->io, [s = state_.get()] { s->begin_shutdown(); });
  state_->thread.join();
}

}  // namespace tenure::net
