#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenure::stores::etcd {

/// RFC 4648, with padding: how the gateway writes keys and values.
std::string to_base64(std::string_view bytes);

/// Nothing unless `text` is exactly what to_base64() writes for some bytes: one spelling for
/// each key, so that a comparison of the spelling and one of the bytes cannot differ.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace tenure::stores::etcd
