#include "trace.hpp"

#include <array>
#include <cstdio>

namespace tenure::sim {

void trace::add(world_time at, const char* text) {
  if (lines_ == 0) return;
  std::array<char, 32> when{};
  const double seconds = std::chrono::duration<double>(at.time_since_epoch()).count();
  std::snprintf(when.data(), when.size(), "%14.6f  ", seconds);
  if (last_.size() == lines_) last_.pop_front();
  last_.push_back(when.data() + std::string(text));
}

}  // namespace tenure::sim
