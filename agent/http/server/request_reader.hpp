#pragma once

#include <cstddef>
#include <string_view>
#include <variant>

#include "http/http_message.hpp"

/// Bytes to requests, without sockets or state.
///
/// Boost.Beast parses; what it has parsed is then checked. Whatever two readers could take for two
/// different requests is refused, since a proxy in front of us could otherwise be made to pass on a
/// request that it has not seen (request smuggling). Refused are: lines that end in a bare LF and
/// folded lines, which are looked for in the bytes; any Transfer-Encoding; more than one
/// Content-Length; a body that is not a POST's; more or less than one Host; and a second one of any
/// header that is not a list.
namespace tenure::http {

struct request_limits {
  std::size_t header_bytes = 8 * 1024;
  std::size_t body_bytes = 16 * 1024;
};

/// The beginning of a request, as far as one can tell.
struct incomplete {
  std::size_t at_least = 1;  ///< with fewer bytes than these it stays incomplete
};

struct received_request {
  request what;
  std::size_t size = 0;  ///< so many of the bytes were its own
  bool head = false;     ///< the answer has no body
  bool http_1_0 = false;
  bool last = false;  ///< the client wants the connection closed afterwards
};

/// What is not a request, or too large. Nothing after it can be read. Constant words: nothing in
/// them needs escaping.
struct rejection {
  unsigned status = 400;
  std::string_view code;
  std::string_view message;
  std::string_view action;
};

using read_result = std::variant<incomplete, received_request, rejection>;

/// Reads the first request of `bytes`, which are all that came since the last one. What is
/// incomplete is read again from its beginning when there is more of it; it cannot grow beyond the
/// sum of the limits. The result does not depend on how the bytes are cut into pieces.
read_result read_request(std::string_view bytes, const request_limits& limits);

/// The rejection as an answer.
response to_response(const rejection& why);

}  // namespace tenure::http
