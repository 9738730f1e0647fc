#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tenure::base {

/// Random bytes from the kernel (getrandom), as lower-case hex. Thread-safe.
std::string random_hex(std::size_t bytes);

/// 64 random bits from the kernel. Thread-safe.
std::uint64_t random_bits();

}  // namespace tenure::base
