#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The contents of a page of metrics, in types of our own.
namespace tenure::metrics {

enum class kind : std::uint8_t { counter, gauge };

struct label {
  std::string_view name;  ///< a literal
  std::string value;      ///< any bytes; unprintable ones are replaced on the page
};

struct sample {
  std::vector<label> labels{};
  double value = 0;
};

/// The name of a metric and its meaning. Literals; `help` is one line.
struct title {
  std::string_view name;
  std::string_view help;
};

/// All samples of one metric, or a piece of them.
struct family {
  title what;
  kind is = kind::gauge;
  std::vector<sample> samples{};
};

struct bucket {
  double upper_bound = 0;
  std::uint64_t cumulative_count = 0;
};

/// A histogram without labels.
struct histogram_family {
  title what;
  std::vector<bucket> buckets{};  ///< ascending; values above the last one are in `count` only
  std::uint64_t count = 0;
  double sum = 0;
};

}  // namespace tenure::metrics
