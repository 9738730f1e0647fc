#include "metrics/duration_histogram.hpp"

#include <algorithm>
#include <chrono>

namespace tenure::metrics {

/// A negative duration counts as zero.
void duration_histogram::observe(core::duration what) {
  const core::duration took = std::max(what, core::duration::zero());
  std::size_t at = 0;
  for (core::duration bound = first_bound; at < bounds && took > bound; bound *= 2) ++at;
  sum_ns_.fetch_add(static_cast<std::uint64_t>(took.count()), std::memory_order_relaxed);
  counts_[at].fetch_add(1, std::memory_order_relaxed);
}

histogram_family duration_histogram::read(const title& as) const {
  using seconds = std::chrono::duration<double>;
  histogram_family out{.what = as};
  core::duration bound = first_bound;
  for (std::size_t at = 0; at < bounds; ++at, bound *= 2) {
    out.count += counts_[at].load(std::memory_order_relaxed);
    out.buckets.push_back({.upper_bound = seconds(bound).count(), .cumulative_count = out.count});
  }
  out.count += counts_[bounds].load(std::memory_order_relaxed);
  const core::duration sum(sum_ns_.load(std::memory_order_relaxed));
  out.sum = seconds(sum).count();
  return out;
}

}  // namespace tenure::metrics
