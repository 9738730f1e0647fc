#include "base/random.hpp"

#include <sys/random.h>

#include <cerrno>

#include "core/check.hpp"

namespace tenure::base {
namespace {

void fill(void* into, std::size_t size) {
  // Once the kernel's pool is ready, up to 256 bytes are never cut short; before, a signal may
  // interrupt.
  TENURE_CHECK(size <= 256);
  ssize_t got = -1;
  do {
    got = ::getrandom(into, size, 0);
  } while (got < 0 && errno == EINTR);
  TENURE_CHECK(got == static_cast<ssize_t>(size));
}

}  // namespace

std::string random_hex(std::size_t bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string raw(bytes, '\0');
  fill(raw.data(), raw.size());
  std::string out;
  out.reserve(bytes * 2);
  for (const char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4];
    out += digits[byte & 0xf];
  }
  return out;
}

std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  fill(&bits, sizeof bits);
  return bits;
}

}  // namespace tenure::base
