#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>

namespace tenure::process {

/// What the keeper of a check writes to its pipe once, before it ends.
struct check_report {
  enum class what : std::int32_t { ended, not_executed, found, not_found, done, not_done };
  what kind;
  std::int32_t value = 0;             ///< a wait status, or an errno value
  std::int64_t modified_unix_ms = 0;  ///< only for `found`
};

/// Input of a keeper; made before the fork, because nothing can be allocated after it.
struct keeper_request {
  pid_t parent = 0;
  int report_to = -1;  ///< the write end of the pipe
  enum class job : std::uint8_t { execute, look, write, remove };
  job what = job::execute;
  const char* path = nullptr;      ///< the file to look at; not for `execute`
  const char* new_path = nullptr;  ///< only for `write`: the temporary file, renamed once complete
  const char* text = nullptr;      ///< only for `write`
  char* const* argv = nullptr;
  char* const* environment = nullptr;
};

/// Ends the keeper of a command and all its processes. The keeper of a file needs SIGKILL.
inline constexpr int keeper_end_signal = SIGTERM;

/// The whole life of a keeper. Runs in the forked child, with every signal blocked. Allocates
/// nothing, and takes no lock that another thread of the parent may have held.
[[noreturn]] void keep_check(const keeper_request& what);

}  // namespace tenure::process
