#pragma once

#include <chrono>

#include "support/sanitized.hpp"

namespace tenure::tests {

/// Nothing here takes that long unless it is broken.
inline constexpr std::chrono::seconds patience{sanitized ? 60 : 20};

}  // namespace tenure::tests
