#pragma once

#include <ctime>
#include <string>

#include "net/http_message.hpp"

namespace tenure::net {

/// What the request and the connection make of an answer.
struct framing {
  bool head = false;  ///< the answer to a HEAD: as long as the body is, but without it
  bool last = false;  ///< the connection is closed after it
};

/// A response as it goes over the wire, in one piece. Status 204 and 304 have no body.
/// Precondition: no header has a line break in it.
std::string response_text(const response& what, const framing& how, std::time_t now);

}  // namespace tenure::net
