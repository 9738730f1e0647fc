#include "metrics/registry.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <sstream>
#include <utility>

#include "base/printable_text.hpp"
#include "core/check.hpp"

namespace tenure::metrics {
namespace {

prometheus::Labels labels_of(const std::vector<label>& all) {
  prometheus::Labels out;
  for (const label& one : all) out.emplace(one.name, base::printable(one.value));
  return out;
}

prometheus::MetricFamily head_of(const title& what, prometheus::MetricType type) {
  return {
      .name = std::string(what.name), .help = std::string(what.help), .type = type, .metric = {}};
}

prometheus::MetricFamily converted(const family& from) {
  const bool counts = from.is == kind::counter;
  prometheus::MetricFamily out =
      head_of(from.what, counts ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge);
  out.metric.reserve(from.samples.size());
  for (const sample& s : from.samples) {
    prometheus::ClientMetric& one = out.metric.emplace_back();
    (counts ? one.counter.value : one.gauge.value) = s.value;
    one.label.reserve(s.labels.size());
    for (const label& l : s.labels)
      one.label.push_back({std::string(l.name), base::printable(l.value)});
  }
  return out;
}

prometheus::MetricFamily converted(const histogram_family& from) {
  prometheus::MetricFamily out = head_of(from.what, prometheus::MetricType::Histogram);
  prometheus::ClientMetric& one = out.metric.emplace_back();
  one.histogram.sample_count = from.count;
  one.histogram.sample_sum = from.sum;
  for (const bucket& b : from.buckets) {
    one.histogram.bucket.push_back({b.cumulative_count, b.upper_bound});
  }
  return out;
}

std::string text_of(std::vector<prometheus::MetricFamily> families) {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return std::move(out).str();
}

std::string text_of(prometheus::MetricFamily one) {
  std::vector<prometheus::MetricFamily> families;
  families.push_back(std::move(one));
  return text_of(std::move(families));
}

}  // namespace

void counter::add(double by) const {
  TENURE_CHECK(of_ != nullptr);
  of_->Increment(by);
}

void gauge::set(double to) const {
  TENURE_CHECK(of_ != nullptr);
  of_->Set(to);
}

struct registry::impl {
  prometheus::Registry all;
};

registry::registry() : impl_(std::make_unique<impl>()) {}
registry::~registry() = default;

counter registry::add_counter(const title& what, const std::vector<label>& labels) {
  return counter(prometheus::BuildCounter()
                     .Name(std::string(what.name))
                     .Help(std::string(what.help))
                     .Register(impl_->all)
                     .Add(labels_of(labels)));
}

gauge registry::add_gauge(const title& what, const std::vector<label>& labels) {
  return gauge(prometheus::BuildGauge()
                   .Name(std::string(what.name))
                   .Help(std::string(what.help))
                   .Register(impl_->all)
                   .Add(labels_of(labels)));
}

void registry::write(std::string& page) const {
  page += text_of(impl_->all.Collect());
}

void write(const family& what, std::string& page) {
  page += text_of(converted(what));
}

void write(const histogram_family& what, std::string& page) {
  page += text_of(converted(what));
}

/// The serializer writes a head for everything it is given; a metric may have only one.
void write_more(const family& what, std::string& page) {
  prometheus::MetricFamily without_help = converted(what);
  without_help.help.clear();
  const std::string text = text_of(std::move(without_help));
  page.append(text, text.find('\n') + 1);
}

}  // namespace tenure::metrics
