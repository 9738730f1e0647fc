#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/clock.hpp"
#include "http/http_message.hpp"
#include "http/listen_error.hpp"
#include "http/server/responder.hpp"
#include "http/server/traffic.hpp"
#include "settings/listen_address.hpp"

namespace tenure::http {

/// The limits of one listener's clients. Clients are hostile until proven slow.
struct http_limits {
  std::size_t header_bytes = 8 * 1024;  ///< request line and headers; more is answered 431
  std::size_t body_bytes = 16 * 1024;   ///< the body of a request; more is answered 413
  std::size_t connections = 64;         ///< at a time; see `http_server`
  std::size_t readers = 1024;           ///< held answers and streams, counted apart; then 503
  /// For all unread answers together; the client that has waited longest is dropped.
  std::size_t unread_bytes = std::size_t{32} << 20U;
  std::size_t requests_per_connection =
      1000;  ///< then the connection is closed, and the client reconnects
  std::chrono::milliseconds idle{30'000};   ///< from an answer to the next request
  std::chrono::milliseconds read{5'000};    ///< from the first byte of a request to its last
  std::chrono::milliseconds answer{5'000};  ///< for a handler that answers later; then 503
  /// For one answer; for a stream, until its reader takes anything at all.
  std::chrono::milliseconds write{5'000};
};

/// The result of the attendant's look.
struct attention {
  bool news = false;                      ///< held answers and streams are to be asked
  std::optional<core::duration> again{};  ///< when to look again even without news
};

/// A small HTTP/1.1 server: keep-alive, pipelining, HEAD, a named limit for everything, on a thread
/// of its own, so that no client can delay anything else.
///
/// A handler may hold an answer back or stream one (http/server/answer.hpp). Clients that wait for
/// such an answer are idle: they are counted apart, and a disconnect is noticed.
///
/// A client that misses a deadline is dropped. When there is one connection too many, another one
/// is closed: one from the address that has most of them; among these an idle one, before one that
/// does not read its answer, before a busy one; among these the one that has waited longest.
/// Requests that change something (POST) are never given up: if all connections are such requests,
/// the new one gets a 503. Bytes that are not HTTP get a 400.
///
/// Call `listen_on`, then `start`, then `shutdown`, all from one thread.
class http_server {
 public:
  /// Answers one request. Called on the server's thread; must neither block nor throw.
  using handler = std::function<response(const request&)>;

  /// The same, but the answer may come later, from any thread. The connection waits for it, so its
  /// answers stay in order; the server and its other connections do not wait.
  using deferring_handler = std::function<void(const request&, responder)>;

  /// How long `shutdown` lets answers under way finish.
  static constexpr std::chrono::milliseconds shutdown_limit{1'000};

  http_server();
  ~http_server();  ///< shuts down, if that has not been done
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  /// Opens a listener and returns its address, with the port that the kernel has chosen if the port
  /// is 0. Clients are queued from now on, and served from `start` on. Counts traffic in `counted`,
  /// which must outlive the server.
  std::expected<settings::listen_address, listen_error> listen_on(
      const settings::listen_address& where, handler answer, http_limits limits = {},
      traffic* counted = nullptr);
  std::expected<settings::listen_address, listen_error> listen_on(
      const settings::listen_address& where, deferring_handler answer, http_limits limits = {},
      traffic* counted = nullptr);

  /// The same on a Unix socket. Only its owner and root can connect; requests say who connected.
  std::expected<void, listen_error> listen_on_path(const std::string& path,
                                                   deferring_handler answer,
                                                   http_limits limits = {},
                                                   traffic* counted = nullptr);

  /// Calls `attend` on the server's thread at the start, after `news`, and when it has asked for
  /// that. It must neither block nor throw. Call before `start`.
  void attend_with(std::function<attention()> attend);

  /// Call when something may have changed that held answers and streams wait for. Thread-safe and
  /// cheap, however often it is called.
  void news();

  /// Serves all listeners on a new thread. Call once. The error says why there is no thread.
  std::expected<void, std::string> start();

  /// Stops accepting, closes connections that wait for a request, lets requests that have begun be
  /// answered until `shutdown_limit`, and ends the thread. Returns when nothing is left.
  void shutdown();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tenure::http
