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
  match,       ///< it is what was asked for
  container,   ///< in the container of one that is
  descendant,  ///< came out of one that belongs
  session,     ///< in the session or process group of one that belongs
};

/// One process of the workload. Its number and its start together are its name for ever.
struct member {
  pid_t pid = 0;
  std::uint64_t start = 0;  ///< ticks since boot
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = 0;  ///< as in process_stat
  bond why = bond::match;
  bool matches = false;  ///< is what was asked for, also if something else was noticed first
  base::unique_fd fd{};  ///< a pidfd of it; empty for most

  /// Its number was given to somebody else.
  [[nodiscard]] bool gone() const { return state == 'X'; }
};

/// A set of processes with a fixed capacity. Allocates in `prepare` only.
class process_set {
 public:
  void prepare(std::size_t capacity);

  /// Forgets all, and closes their pidfds.
  void clear();

  /// Null if it is not in the set.
  [[nodiscard]] member* find(pid_t pid);

  /// Puts it in, in place of one with the same number. Null if there is no room.
  member* put(member one);

  /// All of them, in the order in which they were put in.
  [[nodiscard]] std::span<member> all() { return {members_.data(), used_}; }
  [[nodiscard]] std::span<const member> all() const { return {members_.data(), used_}; }

 private:
  /// Where the number is, or would be put.
  [[nodiscard]] std::size_t place(pid_t pid) const;

  std::vector<member> members_;
  std::size_t used_ = 0;
  std::vector<std::uint32_t> index_;  ///< 1 + the place in `members_`; 0: empty. Twice as long.
};

}  // namespace tenure::process
