#include "metrics/duration_histogram.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "core/timing.hpp"

namespace tenure::metrics {
namespace {

using namespace std::chrono_literals;

constexpr title name{"a_seconds", "Of a test."};

/// How many of the observed are no longer than the bucket's bound.
std::uint64_t up_to(const histogram_family& all, double upper_bound) {
  for (const bucket& b : all.buckets) {
    if (b.upper_bound == upper_bound) return b.cumulative_count;
  }
  ADD_FAILURE() << "there is no bucket up to " << upper_bound;
  return 0;
}

TEST(DurationHistogram, ABoundBelongsToItsBucket) {
  duration_histogram h;
  h.observe(250us);
  EXPECT_EQ(up_to(h.read(name), 0.00025), 1U);
  h.observe(250us + 1ns);
  EXPECT_EQ(up_to(h.read(name), 0.00025), 1U);
  EXPECT_EQ(up_to(h.read(name), 0.0005), 2U);
}

TEST(DurationHistogram, CountsAndAddsUpAll) {
  duration_histogram h;
  for (const core::duration d : {core::duration(1ms), core::duration(2s), core::duration(72h)}) {
    h.observe(d);
  }
  const histogram_family all = h.read(name);
  EXPECT_EQ(all.count, 3U);
  EXPECT_DOUBLE_EQ(all.sum, 2.001 + 72 * 3600);
  EXPECT_EQ(all.buckets.back().cumulative_count, 2U) << "three days are beyond the last bound";
}

TEST(DurationHistogram, ReachesFromASlowDiskToTheLongestTtl) {
  const histogram_family all = duration_histogram().read(name);
  EXPECT_LE(all.buckets.front().upper_bound, 0.001);
  EXPECT_GT(all.buckets.back().upper_bound, std::chrono::duration<double>(core::max_ttl).count());
}

TEST(DurationHistogram, WhatIsLateHadNoTimeLeft) {
  duration_histogram h;
  h.observe(-5s);
  const histogram_family all = h.read(name);
  EXPECT_EQ(all.buckets.front().cumulative_count, 1U);
  EXPECT_EQ(all.sum, 0);
}

}  // namespace
}  // namespace tenure::metrics
