#pragma once

#include <memory>
#include <string>
#include <vector>

#include "metrics/family.hpp"

namespace prometheus {
class Counter;
class Gauge;
}  // namespace prometheus

/// The interface to prometheus-cpp; nothing else includes it.
///
/// It is this small because of prometheus-cpp's locks. A registry and its families hold theirs
/// during a collection, and need the same ones to add a metric; a histogram locks for each
/// observation. Counters and gauges are atomic numbers. So everything is added before the first
/// collection, histograms are our own (`duration_histogram`), and metrics whose labels come and go
/// are made on request: a thread that counts never waits for one that collects.
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

/// A number that goes up and down. Valid as long as its registry. Thread-safe and lock-free.
class gauge {
 public:
  gauge() = default;
  explicit gauge(prometheus::Gauge& of) : of_(&of) {}
  void set(double to) const;

 private:
  prometheus::Gauge* of_ = nullptr;
};

/// The metrics that are kept. All of them are added before the first `write`.
class registry {
 public:
  registry();
  ~registry();
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;

  /// Precondition: the names are valid, and no other metric has the same name and labels. Metrics
  /// that differ only in their labels are one family.
  counter add_counter(const title& what, const std::vector<label>& labels = {});
  gauge add_gauge(const title& what, const std::vector<label>& labels = {});

  /// Appends all metrics to `page`.
  void write(std::string& page) const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// Appends a family to `page` in Prometheus' text format.
void write(const family& what, std::string& page);
void write(const histogram_family& what, std::string& page);

/// Appends more samples of the family that was written last.
void write_more(const family& what, std::string& page);

}  // namespace tenure::metrics
