#pragma once

#include <poll.h>

#include <chrono>
#include <functional>

namespace tenure::tests {

/// How long a test waits for what must happen. Only a failing test waits that long.
inline constexpr std::chrono::seconds eventually_within{30};

/// True as soon as `condition` is; false if it is not within `eventually_within`.
inline bool eventually(const std::function<bool()>& condition,
                       std::chrono::milliseconds between_looks = std::chrono::milliseconds(2)) {
  const auto deadline = std::chrono::steady_clock::now() + eventually_within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::poll(nullptr, 0, static_cast<int>(between_looks.count()));
  }
  return true;
}

}  // namespace tenure::tests
