#pragma once

#include <string>

namespace tenure::http {

/// The library that this program runs with, e.g. "OpenSSL 3.0.17 1 Jul 2025".
std::string tls_library();

}  // namespace tenure::http
