#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

#include "http/http_message.hpp"

namespace tenure::http {

/// How the client finds the end of a body.
enum class body_end : std::uint8_t {
  by_length,
  by_last_chunk,  ///< it is sent in chunks, and its length is unknown
  by_close,       ///< the same, for HTTP/1.0
};

/// What the request and the connection require of an answer.
struct framing {
  bool head = false;  ///< the answer to a HEAD: with the body's length, but without the body
  bool last = false;  ///< the connection is closed after it
  body_end ends = body_end::by_length;
};

/// The time in the format of the Date header.
std::string date_text(std::time_t now);

/// Appends a response as sent over the connection. There is no body with status 204 and 304, nor
/// where the body's end is not found by its length: then the chunks follow. Precondition: no header
/// has a line break in it.
void append_response(std::string& to, const response& what, const framing& how,
                     std::string_view date);

/// The same, as a text of its own.
std::string response_text(const response& what, const framing& how, std::time_t now);

}  // namespace tenure::http
