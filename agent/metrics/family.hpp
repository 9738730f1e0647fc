#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What is on a page of metrics, in words of our own.
namespace tenure::metrics {

enum class kind : std::uint8_t { counter, gauge };

struct label {
  std::string_view name;  ///< a literal
  std::string value;      ///< any bytes; what does not print is replaced on the page
};

struct sample {
  std::vector<label> labels{};
  double value = 0;
};

/// What a metric is called and means. Literals, of which `help` is one line.
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
  std::vector<bucket> buckets{};  ///< ascending; what is above the last one is in `count` alone
  std::uint64_t count = 0;
  double sum = 0;
};

}  // namespace tenure::metrics
