#include "process/process_set.hpp"

#include <algorithm>
#include <utility>

namespace tenure::process {

void process_set::prepare(std::size_t capacity) {
  members_ = std::vector<member>(capacity);
  index_.assign(2 * capacity, 0);
  used_ = 0;
}

void process_set::clear() {
  for (member& one : all()) one.fd.reset();
  std::ranges::fill(index_, 0U);
  used_ = 0;
}

/// The search always ends at an empty place, because half of the index is free.
std::size_t process_set::place(pid_t pid) const {
  std::size_t at = static_cast<std::size_t>(pid) % index_.size();
  while (index_[at] != 0 && members_[index_[at] - 1].pid != pid) at = (at + 1) % index_.size();
  return at;
}

member* process_set::find(pid_t pid) {
  const std::uint32_t found = index_[place(pid)];
  return found == 0 ? nullptr : &members_[found - 1];
}

member* process_set::put(member one) {
  std::uint32_t& found = index_[place(one.pid)];
  if (found == 0) {
    if (used_ == members_.size()) return nullptr;
    found = static_cast<std::uint32_t>(++used_);
  }
  member& there = members_[found - 1];
  there = std::move(one);
  return &there;
}

}  // namespace tenure::process
