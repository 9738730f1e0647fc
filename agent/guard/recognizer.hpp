#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/trusted_open.hpp"
#include "guard/target.hpp"
#include "process/process_scan.hpp"

namespace tenure::guard {

/// Longest path or command line that can be compared.
inline constexpr std::size_t most_target_bytes = 4095;

/// A process that began later than this after its pid file was written is another one that got the
/// number. File systems and /proc count in steps.
inline constexpr std::int64_t pid_file_slack_ms = 2000;

enum class recognition : std::uint8_t {
  no,
  yes,
  unreadable,  ///< the kernel does not tell us
};

/// What a pid file says.
enum class pid_file_state : std::uint8_t {
  unused,      ///< the target is not found by one
  missing,     ///< there is none, or an empty one: nothing was started yet
  good,        ///< it has a number
  unreadable,  ///< `flaw` says why
  malformed,   ///< it holds something else
};

/// Compares processes with a target. Allocates in `prepare` only.
class recognizer {
 public:
  /// Precondition: the target's value is neither empty nor longer than `most_target_bytes`.
  void prepare(settings::target what);

  /// Reads the pid file anew, if that is how the target is found.
  void refresh();

  /// Another user's is not meant, if the target has a user; else it is `unreadable`: it may be the
  /// workload, or somebody who has given his process its name.
  ///
  /// `unreadable` also for one that has the number of the pid file, and began after that was
  /// written: wall clocks are set, so nobody can tell whether the file is stale.
  [[nodiscard]] recognition of(const process::process_stat& one);

  [[nodiscard]] const settings::target& what() const { return what_; }
  [[nodiscard]] pid_file_state file() const { return file_; }
  /// The number in the pid file, if that is good.
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Why a pid file could not be read, or is not trusted.
  [[nodiscard]] const base::flaw& flaw() const { return flaw_; }

  /// True if it belongs to our user, to root, or to the target's. By its real user: another user
  /// who executes a set-user-ID program of root's gives it any arguments.
  [[nodiscard]] bool may_be_meant(const process::process_stat& one) const;

 private:
  [[nodiscard]] recognition named(const process::process_stat& one);
  [[nodiscard]] recognition by_executable(pid_t pid);
  [[nodiscard]] recognition by_command_line(const process::process_stat& one);
  [[nodiscard]] recognition by_pid_file(const process::process_stat& one) const;

  settings::target what_;
  pid_file_state file_ = pid_file_state::unused;
  pid_t pid_ = 0;
  std::int64_t written_ms_ = 0;  ///< since 1970
  base::flaw flaw_{};
  std::array<char, most_target_bytes + 1> room_{};
};

}  // namespace tenure::guard
