#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "core/lease_group.hpp"

namespace tenure::stores::sqlite {

/// What a look has found of the place in line of an election (place_table.hpp).
enum class place_state : std::uint8_t {
  free,  ///< nobody has it, and we could
  ours,
  other,  ///< another member has it, or there is none
};

/// Our places in line: what is wanted is compared with what a look finds. One request at a time, so
/// that none overtakes another. Does no I/O. Not thread-safe.
class line {
 public:
  /// What is to be written in one transaction.
  struct request {
    std::vector<core::election_index> stand;
    std::vector<core::election_index> leave;
  };
  /// Carries a request out and calls `done`, with whether that has worked, not from within.
  using writer = std::function<void(const request& what, std::function<void(bool worked)> done)>;

  explicit line(writer write) : write_(std::move(write)) {}

  /// Takes the place from another member that has it.
  void want(core::election_index which, bool stands);
  /// Writes again what has failed, or what was taken away. A member that has the place now keeps
  /// it: two that both find themselves next do not take it from each other again and again.
  void saw(core::election_index which, place_state is);
  /// Call now and then. After a request that has failed nothing is written again before: each try
  /// may itself be the reason for a look.
  void try_again() { has_failed_ = false; }
  /// True while a request about this election is under way: nobody knows whether there is a place.
  [[nodiscard]] bool is_busy(core::election_index which) const {
    return busy_.contains(which) || changed_.contains(which);
  }
  void close() { alive_.reset(); }

 private:
  void write();

  writer write_;
  std::set<core::election_index> wanted_;
  std::set<core::election_index> changed_;  ///< for the next request
  std::set<core::election_index> busy_;     ///< in the one under way
  bool has_failed_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tenure::stores::sqlite
