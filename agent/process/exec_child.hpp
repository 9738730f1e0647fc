#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <optional>
#include <string_view>

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
  /// No program that it executes becomes another user or gets capabilities (PR_SET_NO_NEW_PRIVS).
  bool gains_no_privileges = false;
  /// Descriptors that the child inherits besides 0, 1, 2; -1: none.
  std::array<int, 3> inherits{-1, -1, -1};
  /// What the kubelet is to show of the container when it has ended (its termination message);
  /// empty: nothing is said. Written by the child, before it becomes the program: nobody else waits
  /// for that file's disk.
  std::string_view last_words{};
  /// Receives the errno of a failed exec. A close-on-exec pipe: end of file means that the program
  /// was executed. -1: not reported.
  int error_pipe = -1;
};

/// True if we may signal the processes of all users (CAP_KILL). Allocates nothing.
[[nodiscard]] bool may_signal_all();

/// Forks and executes. The child leads a process group of its own, blocks no signal and handles all
/// of them by default. Returns its id, or -1 with errno set. Allocates nothing in either process.
[[nodiscard]] pid_t fork_and_exec(const exec_request& what);

/// What a child does before it executes a program. Call with all signals blocked; `parent` is who
/// made the child, `limit` what base::file_limit_of_programs has told it. False if the parent is
/// dead and the child is not to outlive it. Calls the kernel and nothing else, so it may be used by
/// a child that shares its parent's memory.
[[nodiscard]] bool set_up_child(const exec_request& what, pid_t parent,
                                const std::optional<rlimit>& limit);

/// Tells the parent that the exec has failed with this errno; otherwise as above. Returns the
/// status to exit with.
int report_failed_exec(const exec_request& what, int error);

}  // namespace tenure::process
