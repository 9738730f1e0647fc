#pragma once

#include <cstdint>

namespace tenure::tests {

/// What a stamper writes into its file while it lives. Nanoseconds on CLOCK_BOOTTIME.
struct stamp_page {
  std::uint64_t version;
  std::int64_t first;
  std::int64_t last;
};

}  // namespace tenure::tests
