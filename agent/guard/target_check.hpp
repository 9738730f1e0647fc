#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "guard/foreign_processes.hpp"
#include "guard/target.hpp"

/// What is said to a person about a workload that somebody else starts, and why it could not be
/// stopped. Allocates, and reads more than a look does: for the start, and for commands.
namespace tenure::guard {

/// Each is another thing to do for an operator.
enum class target_fault : std::uint8_t {
  no_target,            ///< nothing says which processes are meant
  proc_unusable,        ///< /proc is not mounted, or another PID namespace's
  hidden,               ///< /proc shows only our user's processes (hidepid)
  not_shared,           ///< the other containers' processes are not in our PID namespace
  pid_file_unreadable,  ///< there is one, but it cannot be read
  pid_file_malformed,   ///< its first line is no process id
  pid_file_stale,       ///< the process with its number began after it was written
  first_process,        ///< process 1 is meant
  too_wide,             ///< we, or processes of our own container are meant
  other_user,           ///< the one meant is neither ours nor root's, and nobody has said whose
  unreadable,           ///< the kernel does not tell us of one whether it is meant
  not_permitted,        ///< one of them may not be signalled by us
  system,               ///< the kernel refuses what is needed
};

struct target_problem {
  target_fault kind;
  std::string text;  ///< what failed, against what, and what to do
};

/// Prepares `workload` to find `what`. A problem here stays until the configuration is changed.
[[nodiscard]] std::expected<void, target_problem> prepare_target(foreign_processes& workload,
                                                                 const settings::target& what);

/// One process of the workload, for a person.
struct found_process {
  pid_t pid = 0;
  std::string command;    ///< its command line, cut
  std::string container;  ///< short; empty where cgroups do not tell
  std::string why;        ///< why it belongs
};

/// "process 17 (python3 main.py) in container 3f2a9c0b1d2e: its executable is python3".
[[nodiscard]] std::string text(const found_process& one);

/// What would be stopped now, or why it could not be. An empty list is no problem: the main
/// container may start later. Signals nobody. Precondition: `prepare_target` has succeeded.
[[nodiscard]] std::expected<std::vector<found_process>, target_problem> survey(
    foreign_processes& workload);

}  // namespace tenure::guard
