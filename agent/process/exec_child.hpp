#pragma once

#include <sys/types.h>

#include <array>

namespace tenure::process {

/// A program to execute in a new child. The caller keeps what the pointers point to until the call
/// returns.
struct exec_request {
  const char* program = nullptr;
  bool search_path = false;  ///< look `program` up in PATH, as a shell would
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  bool dies_with_us = false;       ///< SIGKILL it when the calling thread ends
  bool takes_terminal = false;     ///< hand the terminal on stdin to its process group
  bool keeps_hup_ignored = false;  ///< we were started under nohup
  /// Descriptors that the child inherits besides 0, 1, 2; -1: none.
  std::array<int, 3> inherits{-1, -1, -1};
  /// Receives the errno of a failed exec. A close-on-exec pipe: end of file means that the program
  /// was executed. -1: not reported.
  int error_pipe = -1;
};

/// Forks and executes. The child leads a process group of its own, blocks no signal and handles all
/// of them by default. Returns its id, or -1 with errno set. Allocates nothing in either process.
[[nodiscard]] pid_t fork_and_exec(const exec_request& what);

}  // namespace tenure::process
