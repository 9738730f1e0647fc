#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Ed25519 signatures (RFC 8032), made by OpenSSL. Here, because this room alone knows that
/// library. Thread-safe.
namespace tenure::http::ed25519 {

inline constexpr std::size_t seed_bytes = 32;
inline constexpr std::size_t public_key_bytes = 32;
inline constexpr std::size_t signature_bytes = 64;

/// The public key that belongs to this seed, which is the private one. Empty if the library refuses
/// the algorithm, as in a mode that a regulator has set. Precondition: `seed_bytes`.
std::string public_key(std::string_view seed);

/// Empty as above. Precondition: `seed_bytes`.
std::string sign(std::string_view seed, std::string_view message);

/// True if the owner of the public key has signed this message. A key or a signature of any other
/// length is false.
bool is_signed(std::string_view public_key, std::string_view message, std::string_view signature);

}  // namespace tenure::http::ed25519
