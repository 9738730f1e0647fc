#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/word.hpp"
#include "http/tls/tls_signature.hpp"

/// A word as one datagram. Pure.
///
///     "TNR1"     4 bytes: what this is, and its form
///     ended      8 bytes, the most significant first
///     told       8 bytes, the same
///     signature  64 bytes
///     name       of the election, 1 to 255 bytes, to the end
namespace tenure::peer {

using http::ed25519::signature_bytes;
inline constexpr std::size_t most_name_bytes = 255;
inline constexpr std::size_t most_word_bytes = 4 + 8 + 8 + signature_bytes + most_name_bytes;

/// Preconditions: the signature has `signature_bytes`, the name 1 to `most_name_bytes`.
std::string encode(const core::word& what);

/// Nothing if `datagram` is anything else.
std::optional<core::word> decode(std::string_view datagram);

}  // namespace tenure::peer
