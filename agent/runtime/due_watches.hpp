#pragma once

#include <cstddef>
#include <vector>

#include "core/clock.hpp"
#include "core/lease_group.hpp"

namespace tenure::runtime {

/// When the watch of each election is to be opened. Not thread-safe.
class due_watches {
 public:
  /// For this many elections, none of which has a watch to open.
  void begin(std::size_t elections) { at_.assign(elections, core::never); }

  /// The watch of `which` is to be opened at `when`.
  void add(core::election_index which, core::time_point when);

  /// Removes and returns the elections whose watch is to be opened by `now`.
  std::vector<core::election_index> take(core::time_point now);

  /// A lower bound of the times; `never` if there is none.
  [[nodiscard]] core::time_point first() const { return first_; }

 private:
  std::vector<core::time_point> at_;  ///< by election; `never`: its watch is open
  core::time_point first_ = core::never;
};

}  // namespace tenure::runtime
