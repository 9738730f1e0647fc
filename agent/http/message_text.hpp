#pragma once

#include <string>

namespace tenure::http {

/// Appends the headers of a message of Beast, and the empty line that ends its head.
///
/// Beast's own writer makes a sequence of buffers for a socket instead, for which the Beast of
/// Debian 13 needs what C++23 has deprecated.
template <class Fields>
void append_headers(std::string& to, const Fields& headers) {
  for (const auto& one : headers) {
    to.append(one.name_string()).append(": ").append(one.value()).append("\r\n");
  }
  to.append("\r\n");
}

}  // namespace tenure::http
