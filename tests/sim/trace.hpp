#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "virtual_time.hpp"

namespace tenure::sim {

/// The last lines of a replay, for a person. Bulk runs have none.
class trace {
 public:
  explicit trace(std::size_t lines) : lines_(lines) {}

  void add(world_time at, const char* text);

  [[nodiscard]] const std::deque<std::string>& last() const { return last_; }

 private:
  std::size_t lines_;
  std::deque<std::string> last_;
};

}  // namespace tenure::sim
