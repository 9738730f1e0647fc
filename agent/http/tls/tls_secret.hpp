#pragma once

#include <string_view>

namespace tenure::http {

/// Compares in a time that does not depend on where they differ, but on their lengths. OpenSSL does
/// it: no compiler makes an early end of it. Thread-safe.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace tenure::http
