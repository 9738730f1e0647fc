#pragma once

#include <cstddef>
#include <string_view>
#include <variant>

#include "http/http_message.hpp"

/// Turns bytes into requests, without sockets or state.
///
/// Boost.Beast parses; this room then checks the result. It refuses everything that two parsers
/// could read as two different requests, since such a request could smuggle another one through a
/// proxy in front of us. Refused are: lines that end in a bare LF and folded lines, which are
/// searched for in the bytes; any Transfer-Encoding; more than one Content-Length; a body of
/// anything but a POST; more or less than one Host; and a repeated header that is not a list.
namespace tenure::http {

struct request_limits {
  std::size_t header_bytes = 8 * 1024;
  std::size_t body_bytes = 16 * 1024;
};

/// The beginning of a request that may still become valid.
struct incomplete {
  std::size_t at_least = 1;  ///< with fewer bytes it stays incomplete
};

struct received_request {
  request what;
  std::size_t size = 0;  ///< how many of the bytes belong to the request
  bool head = false;     ///< the answer has no body
  bool http_1_0 = false;
  bool last = false;  ///< the client wants the connection closed afterwards
};

/// Bytes that are not a request, or one that is too large. Nothing after it can be read. The texts
/// are constant: nothing in them needs escaping.
struct rejection {
  unsigned status = 400;
  std::string_view code;
  std::string_view message;
  std::string_view action;
};

using read_result = std::variant<incomplete, received_request, rejection>;

/// Reads the first request of `bytes`, which are all bytes since the last request. An incomplete
/// request is read again from its beginning when there are more bytes; it cannot grow beyond the
/// sum of the limits. The result does not depend on how the bytes are cut into pieces.
read_result read_request(std::string_view bytes, const request_limits& limits);

/// The rejection as an answer.
response to_response(const rejection& why);

}  // namespace tenure::http
