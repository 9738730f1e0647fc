#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Requests and responses as light structs of our own, so that handlers need no Beast.
namespace tenure::http {

/// A query parameter, percent-decoded.
struct parameter {
  std::string name;
  std::string value;
};

/// What the request line asks for.
struct request_target {
  std::string path;                   ///< as sent, still percent-encoded, without the query
  std::vector<std::string> segments;  ///< the path's, each decoded after splitting at '/'
  std::vector<parameter> query;       ///< in the order sent, decoded
  std::optional<std::string> host;    ///< only in an absolute target: overrides the Host header
};

/// Splits "/v1/elections/a%2Fb?index=3". The error says what is wrong with the target, which is the
/// client's fault, in constant words that repeat nothing of the target.
std::expected<request_target, std::string_view> parse_target(std::string_view target);

/// The process at the other end of a Unix socket, according to the kernel.
struct peer_process {
  std::uint32_t uid = 0;  ///< when it connected
  std::int32_t pid = 0;   ///< likewise; 0 if it is in another PID namespace
};

/// One request, complete and within the limits of its listener.
struct request {
  std::string method;  ///< as sent, e.g. "GET"; may be an unknown word
  request_target target;
  std::optional<std::string> host;    ///< always there in HTTP/1.1
  std::optional<std::string> origin;  ///< the page that asks, according to a browser
  std::optional<std::string> accept;
  std::optional<std::string> authorization;
  std::optional<std::string> if_none_match;
  std::string body{};
  std::optional<std::string> content_type{};
  std::optional<std::string> last_event_id{};  ///< from a reader of events that reconnects
  std::optional<peer_process> peer{};          ///< over a Unix socket only

  /// The first query parameter of this name, or nullptr.
  [[nodiscard]] const std::string* query_value(std::string_view name) const;
};

struct header {
  std::string name;
  std::string value;
};

/// A response. The server adds Content-Length, Date and Connection, and omits the body in the
/// response to a HEAD.
struct response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body{};
  std::vector<header> headers{};  ///< further ones; a line break in one is a programmer error
};

}  // namespace tenure::http
