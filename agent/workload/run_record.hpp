#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "guard/guard_access.hpp"

namespace tenure::workload {

/// A run of `tenure exec`, a guard and its agents, of which no process lives any more. It was
/// killed as a whole: one that ends its session in order erases its record.
struct killed_run {
  std::string session;  ///< its agents' session
  /// What its guard has started. `in_sight` is false: only the mark tells it from others.
  std::unique_ptr<guard::visible_workload> left;
};

/// What a run of `tenure exec` writes down of itself, so that the next run of the same member on
/// this boot of this machine can prove that it is over, and go on in its session. Belongs to one
/// agent at a time. Not thread-safe.
class run_record {
 public:
  virtual ~run_record() = default;

  /// The run that has written the record; null if that is ours, or nobody has.
  [[nodiscard]] virtual killed_run* before() = 0;

  /// From now on the record is of this run. False if it cannot be written: then there is none, and
  /// the session of the run before must not be used.
  [[nodiscard]] virtual bool keep(const std::string& session) = 0;

  /// The run ends its session in order.
  virtual void erase() = 0;
};

/// Why there is no record.
enum class no_record : std::uint8_t {
  in_use,    ///< an agent has it open, or its guard lives: both may be about to die
  unusable,  ///< nothing could be proven by it: the directory is not ours, the run was in another
             ///< PID namespace, or /proc does not show ours
};

/// The record in `directory` of the member that `member` describes, in one line. Precondition: the
/// parent of this process is its guard. Does not wait.
[[nodiscard]] std::expected<std::unique_ptr<run_record>, no_record> open_run_record(
    const std::string& directory, const std::string& member);

}  // namespace tenure::workload
