#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenure::base {

/// RFC 4648, with padding: how etcd's gateway and Consul write keys and values.
std::string to_base64(std::string_view bytes);

/// Nothing unless `text` is exactly what to_base64() writes for some bytes. Each key has one
/// spelling, so comparing spellings gives the same result as comparing bytes.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace tenure::base
