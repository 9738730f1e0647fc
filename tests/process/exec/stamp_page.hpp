#pragma once

#include <cstdint>

namespace tenure::tests {

/// What a stamper writes into its file while it lives. Nanoseconds on CLOCK_BOOTTIME.
struct stamp_page {
  std::uint64_t version;
  std::int64_t first;
  std::int64_t last;
  /// The latest `stop_at` that the workload's page has shown; 0: it has not looked at one.
  std::int64_t stop_at;
};

}  // namespace tenure::tests
