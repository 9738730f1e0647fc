#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/clock.hpp"

/// What the demo's workloads record themselves, independently of Tenure.
namespace tenure::cli {

/// How often a workload stamps the time: the resolution of all measurements.
inline constexpr core::duration stamp_interval = std::chrono::microseconds(500);

/// One run of a workload, according to its stamps: it ran at least from `first` to `last`.
struct run_record {
  std::string identity;
  std::uint64_t version = 0;
  core::time_point first{};
  core::time_point last{};
};

/// The file of one run: shared memory that the workload stamps until it ends in any way.
struct run_page {
  std::int64_t version;
  std::int64_t first_ns;
  std::int64_t last_ns;
};

/// All runs in `folder`, oldest first.
std::vector<run_record> read_runs(const std::filesystem::path& folder);

/// The longest time for which two runs overlapped; zero if none did.
core::duration longest_overlap(const std::vector<run_record>& runs);

/// True if every run has a larger version than the one before it.
bool versions_grow(const std::vector<run_record>& runs);

}  // namespace tenure::cli
