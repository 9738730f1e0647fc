#pragma once

#include <cstdint>
#include <string_view>

namespace tenure::base {

/// FNV-1a, 64 bits: the same on every machine and in every release. Not for secrets.
constexpr std::uint64_t digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3U;
  }
  return hash;
}

}  // namespace tenure::base
