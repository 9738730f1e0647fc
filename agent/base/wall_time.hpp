#pragma once

#include <cstdint>

namespace tenure::base {

/// CLOCK_REALTIME in milliseconds since 1970. For people to read; nothing is decided by it.
std::int64_t wall_now_ms();

}  // namespace tenure::base
