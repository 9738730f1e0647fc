#pragma once

#include <string>

namespace tenure::http {

/// "OpenSSL 3.0.17 1 Jul 2025": the library that this program runs with.
std::string tls_library();

}  // namespace tenure::http
