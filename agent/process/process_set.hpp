#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/unique_fd.hpp"

namespace tenure::process {

/// Why a process belongs to the workload.
enum class bond : std::uint8_t {
  match,       ///< the target names it
  container,   ///< in the container of a match
  descendant,  ///< descends from one that belongs
  session,     ///< in the session or process group of one that belongs
};

/// One process of the workload. Its id and its start together are unique.
struct member {
  pid_t pid = 0;
  std::uint64_t start = 0;  ///< ticks since boot
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = 0;  ///< as in process_stat
  bond why = bond::match;
  bool matches = false;  ///< the target names it, even if `why` is another bond
  base::unique_fd fd{};  ///< a pidfd of it; empty for most

  /// True if its id was given to another process.
  [[nodiscard]] bool gone() const { return state == 'X'; }
};

/// A set of processes with a fixed capacity. Only `prepare` allocates.
class process_set {
 public:
  void prepare(std::size_t capacity);

  /// Removes all members and closes their pidfds.
  void clear();

  /// Null if it is not in the set.
  [[nodiscard]] member* find(pid_t pid);

  /// Adds a member, or replaces the one with the same id. Null if the set is full.
  member* put(member one);

  /// All members, in the order in which they were added.
  [[nodiscard]] std::span<member> all() { return {members_.data(), used_}; }
  [[nodiscard]] std::span<const member> all() const { return {members_.data(), used_}; }

 private:
  /// Where the id is in the index, or would be put.
  [[nodiscard]] std::size_t place(pid_t pid) const;

  std::vector<member> members_;
  std::size_t used_ = 0;
  std::vector<std::uint32_t> index_;  ///< 1 + the place in `members_`; 0: empty. Twice as long.
};

}  // namespace tenure::process
