#pragma once

#include <string_view>

#include "base/number_text.hpp"

namespace tenure::tests {

/// Reads a number from a command line into `out`. False, and `out` as it was, if it is not one.
template <class Number>
[[nodiscard]] bool read_argument(std::string_view text, Number& out) {
  const auto read = base::read_number<Number>(text);
  out = read.value_or(out);
  return read.has_value();
}

}  // namespace tenure::tests
