#pragma once

#include <cstdint>

namespace tenure::base {

/// CLOCK_REALTIME in milliseconds since 1970. Only for people to read: no decision depends on it.
std::int64_t wall_now_ms();

}  // namespace tenure::base
