#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "http/client/client_message.hpp"
#include "http/tls/tls_settings.hpp"
#include "settings/endpoint.hpp"

namespace tenure::http {

/// The outcome of a request.
using reply_handler = std::move_only_function<void(std::expected<client_reply, client_error>)>;

/// The events of an endless reply. Empty handlers are not called.
struct stream_handlers {
  /// Once, before any `data`, with any status but a redirect: the caller judges it.
  std::move_only_function<void(const reply_head&)> head{};
  /// The body in pieces of a few KiB, which may end anywhere. Nothing more is read before this
  /// returns.
  std::move_only_function<void(std::string_view)> data{};
  /// Once, last: nothing if the server ended the reply properly, otherwise why no more will come.
  std::move_only_function<void(std::optional<client_error>)> ended{};
};

/// An endless reply under way. Destroying it ends it without a callback.
class http_stream {
 public:
  virtual ~http_stream() = default;

  /// Adds to the body of an open request (`client_request::open`). No effect after the stream's
  /// end. The stream ends if the server does not read.
  virtual void send(std::string_view more) = 0;

  /// Reads nothing for this long, so that the server has to wait. Call from within
  /// `stream_handlers::data`. The end of the stream is not noticed meanwhile.
  virtual void pause(core::duration how_long) = 0;
};

/// An HTTP/1.1 client of one endpoint, over TCP or TLS.
///
/// Connections are kept and reused, one request at a time on each. Requests that find none free
/// wait in turn, urgent ones first. The client never sends a request twice: one that may have been
/// executed without a reply is `in_doubt`, and only the caller knows whether it may be repeated.
/// Redirects are errors. Proxies from the environment (HTTP_PROXY and the like) are ignored on
/// purpose: a lease must not depend on them.
///
/// TLS is 1.2 or newer, and the server must always prove its identity.
///
/// Deadlines are instants of CLOCK_BOOTTIME. Everything happens, and all handlers are called, on
/// one thread; no handler is called from within the call that takes it. The client, or one of its
/// streams, may be destroyed from within any handler.
class http_client {
 public:
  virtual ~http_client() = default;  ///< closes

  /// Loads the files of the TLS settings, so that a wrong path is an error at start-up. The error
  /// names the file and says what is wrong with it. Does nothing for plain HTTP.
  virtual std::expected<void, std::string> check() = 0;

  /// Calls `done` once, by the deadline at the latest: with a reply of any status but a redirect,
  /// or with an error: no connection, no time left, too many requests waiting, or a server that
  /// violated the protocol.
  virtual void send(client_request what, core::time_point deadline, reply_handler done) = 0;

  /// Connects until there are `client_limits::warm` connections, so that the next requests find one
  /// open. A failed attempt is not repeated before the next call.
  virtual void warm_up(core::time_point deadline) = 0;

  /// Asks for an endless reply, e.g. a watch, on a connection of its own. The head must arrive by
  /// the deadline; after it, the stream may be silent for as long as the server's kernel answers. A
  /// server that has vanished is noticed in about ten seconds.
  [[nodiscard]] virtual std::unique_ptr<http_stream> stream(client_request what,
                                                            core::time_point head_deadline,
                                                            stream_handlers on) = 0;

  /// Ends all requests, streams and connections. No handler is called afterwards, and nothing may
  /// be sent.
  virtual void close() = 0;

  [[nodiscard]] virtual const settings::endpoint& server() const = 0;
};

/// Makes clients. The simulator has one whose endpoints are modelled servers.
using http_connector =
    std::function<std::unique_ptr<http_client>(settings::endpoint, tls_settings, client_limits)>;

}  // namespace tenure::http
