#include "runtime/due_watches.hpp"

#include <algorithm>
#include <cstdint>

namespace tenure::runtime {

void due_watches::add(core::election_index which, core::time_point when) {
  at_[core::place(which)] = when;
  first_ = std::min(first_, when);
}

std::vector<core::election_index> due_watches::take(core::time_point now) {
  std::vector<core::election_index> out;
  if (first_ > now) return out;
  first_ = core::never;
  for (std::uint32_t i = 0; i < at_.size(); ++i) {
    if (at_[i] <= now) {
      at_[i] = core::never;
      out.push_back(core::election_index{i});
    }
    first_ = std::min(first_, at_[i]);
  }
  return out;
}

}  // namespace tenure::runtime
