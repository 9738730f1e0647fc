#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

#include "http/http_message.hpp"

namespace tenure::http {

/// How the end of a body is found.
enum class body_end : std::uint8_t {
  by_length,
  by_last_chunk,  ///< it comes in pieces, and nobody knows how long it will be
  by_close,       ///< the same, for HTTP/1.0
};

/// What the request and the connection make of an answer.
struct framing {
  bool head = false;  ///< the answer to a HEAD: as long as the body is, but without it
  bool last = false;  ///< the connection is closed after it
  body_end ends = body_end::by_length;
};

/// The time as the Date header has it.
std::string date_text(std::time_t now);

/// Appends a response as it goes over the wire, in one piece. Status 204 and 304 have no body, nor
/// has one whose end is not found by its length: its pieces follow.
/// Precondition: no header has a line break in it.
void append_response(std::string& to, const response& what, const framing& how,
                     std::string_view date);

/// The same, alone.
std::string response_text(const response& what, const framing& how, std::time_t now);

}  // namespace tenure::http
