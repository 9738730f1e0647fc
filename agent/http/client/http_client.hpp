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

/// What becomes of a request.
using reply_handler = std::move_only_function<void(std::expected<client_reply, client_error>)>;

/// What becomes of a reply without end. Those left empty are not called.
struct stream_handlers {
  /// Once, before any `data`. Any status that is not a redirect: the caller judges it.
  std::move_only_function<void(const reply_head&)> head{};
  /// The body as it comes, in pieces of a few KiB that end anywhere. Nothing more is read before
  /// this returns.
  std::move_only_function<void(std::string_view)> data{};
  /// Once, last: nothing if the server ended the reply as HTTP says, else why there is no more.
  std::move_only_function<void(std::optional<client_error>)> ended{};
};

/// A reply under way. Destroying it ends it without a word.
class http_stream {
 public:
  virtual ~http_stream() = default;

  /// Adds to the body of an open request (`client_request::open`). Without effect once the stream
  /// has ended. A server that does not read it ends the stream.
  virtual void send(std::string_view more) = 0;

  /// Reads nothing for this long: the server has to wait. From within `stream_handlers::data`. The
  /// end of the stream is not noticed meanwhile.
  virtual void pause(core::duration how_long) = 0;
};

/// An HTTP/1.1 client of one endpoint, over TCP or TLS.
///
/// Connections are kept and used again, one request at a time on each; requests that find none
/// free wait in turn, urgent ones before the others. Nothing is ever sent twice: what may have been
/// carried out without a reply is `in_doubt`, and only the caller knows whether it may be repeated.
/// Redirects are errors. The environment's proxies (HTTP_PROXY and the like) are ignored on
/// purpose: a lease is not to depend on them.
///
/// TLS is 1.2 or newer and the server always has to prove that it is who the endpoint says.
///
/// Deadlines are instants of CLOCK_BOOTTIME. All is done, and all handlers are called, on one
/// thread; no handler is called from within the call that it was given to. This object, or a stream
/// of it, may be destroyed from within any handler.
class http_client {
 public:
  virtual ~http_client() = default;  ///< closes

  /// Loads the files of the TLS settings, so that a wrong path is an error at start-up. The error
  /// names the file and what is wrong with it. Nothing to do for plain HTTP.
  virtual std::expected<void, std::string> check() = 0;

  /// `done` is called once, by the deadline at the latest. With a reply of any status but a
  /// redirect; or with an error: no connection, no time left, too many requests waiting, or a
  /// server that broke the rules.
  virtual void send(client_request what, core::time_point deadline, reply_handler done) = 0;

  /// Connects until `client_limits::warm` connections are there, so that the next requests find one
  /// open. What fails is not tried again before the next call.
  virtual void warm_up(core::time_point deadline) = 0;

  /// Asks for a reply without end, e.g. a watch, on a connection of its own. The head has to come
  /// by the deadline; after it silence is allowed for as long as the server's kernel answers.
  /// A server that has vanished is noticed in about ten seconds.
  [[nodiscard]] virtual std::unique_ptr<http_stream> stream(client_request what,
                                                            core::time_point head_deadline,
                                                            stream_handlers on) = 0;

  /// Ends all requests, streams and connections; no handler is called afterwards. Nothing may be
  /// sent any more.
  virtual void close() = 0;

  [[nodiscard]] virtual const settings::endpoint& server() const = 0;
};

/// Makes clients. The simulator has one whose endpoints are modelled servers.
using http_connector =
    std::function<std::unique_ptr<http_client>(settings::endpoint, tls_settings, client_limits)>;

}  // namespace tenure::http
