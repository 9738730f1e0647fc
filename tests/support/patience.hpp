#pragma once

#include <chrono>

namespace tenure::tests {

/// Nothing here takes that long unless it is broken.
inline constexpr std::chrono::seconds patience{20};

}  // namespace tenure::tests
