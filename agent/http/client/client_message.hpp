#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/http_message.hpp"

/// What a client sends and receives, as light structs of our own.
namespace tenure::http {

/// One request. The client adds Host, Content-Length and User-Agent, and, if there is a body and no
/// such header, `Content-Type: application/json`.
struct client_request {
  std::string method;  ///< "GET", as sent
  std::string target;  ///< path and query, percent-encoded; the endpoint's base is put before it
  std::vector<header> headers{};
  std::string body{};
  bool open = false;    ///< for a stream: the body goes on (`http_stream::send`) and never ends
  bool urgent = false;  ///< goes before other requests, to connections reserved for it
};

/// Status line and headers of a reply.
struct reply_head {
  unsigned status = 0;
  std::vector<header> headers{};

  /// The first header of this name, ignoring case, or nullptr.
  [[nodiscard]] const std::string* value(std::string_view name) const;
};

/// A reply, complete and within the limits.
struct client_reply : reply_head {
  std::string body{};
};

/// Whether the server may have executed a request that got no reply.
enum class sending : std::uint8_t {
  not_sent,  ///< no byte of it has left this machine: it is certainly not executed
  in_doubt,  ///< it may have been executed, or may still be
};

struct client_error {
  sending how = sending::not_sent;
  std::string text;  ///< what failed, against which endpoint, what to do next; no secret
};

/// The limits of a client, for its server and for itself.
struct client_limits {
  std::size_t header_bytes = 16 * 1024;  ///< the header of a reply
  std::size_t body_bytes =
      4 * 1024 * 1024;          ///< the body of a reply; a stream has no end and no limit
  std::size_t connections = 4;  ///< at a time; streams have their own
  std::size_t reserved = 0;     ///< how many of these are for urgent requests only
  std::size_t waiting = 256;    ///< requests that wait for a connection
  std::size_t warm = 0;         ///< connections that stay open while idle
  std::chrono::milliseconds idle{30'000};  ///< a kept connection is closed after this time
};

}  // namespace tenure::http
