#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/trusted_open.hpp"
#include "guard/file_reader.hpp"
#include "guard/target.hpp"
#include "process/process_scan.hpp"

namespace tenure::guard {

/// The longest path or command line that can be compared.
inline constexpr std::size_t most_target_bytes = most_read_bytes - 1;

/// A process that began later than this after its pid file was written is another process with the
/// same id. The slack is needed because the clocks of file systems and /proc are coarse.
inline constexpr std::int64_t pid_file_slack_ms = 2000;

enum class recognition : std::uint8_t {
  no,
  yes,
  unreadable,  ///< the kernel does not tell
};

/// The state of a pid file.
enum class pid_file_state : std::uint8_t {
  unused,      ///< the target does not use one
  missing,     ///< missing or empty: nothing was started yet
  good,        ///< it contains a number
  unreadable,  ///< `flaw` says why
  malformed,   ///< it contains something else
};

/// Compares processes with a target. Only `prepare` allocates.
class recognizer {
 public:
  /// `reader` reads pid files and command lines, and outlives this.
  explicit recognizer(file_reader& reader) : reader_(reader) {}

  /// Precondition: the target's value is neither empty nor longer than `most_target_bytes`.
  void prepare(settings::target what);

  /// Reads the pid file again, if the target uses one.
  void refresh();

  /// A process of another user does not match if the target has a user. Otherwise it is
  /// `unreadable`: it may be the workload, or another user's process with the same name.
  ///
  /// Also `unreadable`: a process with the id in the pid file that began after the file was
  /// written. Wall clocks can be set, so nobody can tell whether the file is stale.
  [[nodiscard]] recognition of(const process::process_stat& one);

  [[nodiscard]] const settings::target& what() const { return what_; }
  [[nodiscard]] pid_file_state file() const { return file_; }
  /// The number in the pid file, if it is `good`.
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Why a pid file could not be read, or is not trusted.
  [[nodiscard]] const base::flaw& flaw() const { return flaw_; }

  /// True if the process belongs to our user, to root, or to the target's user. Checks the real
  /// user: another user can run a set-user-ID program of root with any arguments.
  [[nodiscard]] bool may_be_meant(const process::process_stat& one) const;

 private:
  [[nodiscard]] recognition named(const process::process_stat& one);
  [[nodiscard]] recognition by_executable(pid_t pid);
  [[nodiscard]] recognition by_command_line(const process::process_stat& one);
  [[nodiscard]] recognition by_pid_file(const process::process_stat& one) const;

  file_reader& reader_;
  settings::target what_;
  pid_file_state file_ = pid_file_state::unused;
  pid_t pid_ = 0;
  std::int64_t written_ms_ = 0;  ///< since 1970
  base::flaw flaw_{};
  std::array<char, most_target_bytes + 1> room_{};
};

}  // namespace tenure::guard
