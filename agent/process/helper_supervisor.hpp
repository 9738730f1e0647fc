#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>

namespace tenure::process {

/// What the keeper of a check writes to its pipe, once, before it ends.
struct check_report {
  enum class what : std::int32_t { ended, not_executed, found, not_found, done, not_done };
  what kind;
  std::int32_t value = 0;             ///< a wait status, or an errno value
  std::int64_t modified_unix_ms = 0;  ///< of `found`
};

/// What it needs; made before the fork, because nothing can be allocated after it.
struct keeper_request {
  pid_t parent = 0;
  int report_to = -1;  ///< the pipe's end
  enum class job : std::uint8_t { execute, look, write, remove };
  job what = job::execute;
  const char* path = nullptr;      ///< of the file, but for `execute`
  const char* new_path = nullptr;  ///< of `write`: beside it, renamed when it is whole
  const char* text = nullptr;      ///< of `write`
  char* const* argv = nullptr;
  char* const* environment = nullptr;
};

/// What ends the keeper of a command and all that it keeps; that of a file takes SIGKILL.
inline constexpr int keeper_end_signal = SIGTERM;

/// The whole life of a keeper, in the child that was forked for it with every signal blocked.
/// Allocates nothing, and takes no lock that another thread of the parent may have held.
[[noreturn]] void keep_check(const keeper_request& what);

}  // namespace tenure::process
