#pragma once

#include <memory>
#include <string>
#include <vector>

#include "metrics/family.hpp"

namespace prometheus {
class Counter;
class Gauge;
}  // namespace prometheus

/// The seam to prometheus-cpp: nothing else here knows it.
///
/// Its locks are why this is no more than it is. A registry and its families hold theirs while
/// they are collected, and take the same ones to add a metric; a histogram takes one for each
/// observation. Counters and gauges are atomic numbers. So everything is added before anybody
/// collects, histograms are our own (`duration_histogram`), and what has labels that come and go is
/// made when it is asked for: no thread that counts ever waits for one that collects.
namespace tenure::metrics {

/// A number that only grows. Valid as long as its registry. Thread-safe and lock-free.
class counter {
 public:
  counter() = default;
  explicit counter(prometheus::Counter& of) : of_(&of) {}
  void add(double by = 1) const;

 private:
  prometheus::Counter* of_ = nullptr;
};

/// A number that moves. Valid as long as its registry. Thread-safe and lock-free.
class gauge {
 public:
  gauge() = default;
  explicit gauge(prometheus::Gauge& of) : of_(&of) {}
  void set(double to) const;

 private:
  prometheus::Gauge* of_ = nullptr;
};

/// The metrics that are kept, all of them added before the first `write`.
class registry {
 public:
  registry();
  ~registry();
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;

  /// Precondition: names are valid, and no other metric has this one with the same labels. Metrics
  /// that differ in their labels only are one family.
  counter add_counter(const title& what, const std::vector<label>& labels = {});
  gauge add_gauge(const title& what, const std::vector<label>& labels = {});

  /// Appends all of them to `page`.
  void write(std::string& page) const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// Appends to `page` in Prometheus' text format.
void write(const family& what, std::string& page);
void write(const histogram_family& what, std::string& page);

/// Appends a further piece of the family that was written last.
void write_more(const family& what, std::string& page);

}  // namespace tenure::metrics
