#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "guard/foreign_processes.hpp"
#include "guard/target.hpp"

/// Messages about a workload that others start, and why it could not be stopped. Allocates, and
/// reads more than a look does; used at the start and by commands.
namespace tenure::guard {

/// Each value needs a different action by the operator.
enum class target_fault : std::uint8_t {
  no_target,            ///< no target is configured
  proc_unusable,        ///< /proc is not mounted, or belongs to another PID namespace
  hidden,               ///< /proc shows only our user's processes (hidepid)
  not_shared,           ///< the other containers' processes are not in our PID namespace
  pid_file_unreadable,  ///< it exists but cannot be read
  pid_file_malformed,   ///< its first line is not a process id
  pid_file_stale,       ///< the process with this id began after the file was written
  first_process,        ///< the target names process 1
  too_wide,             ///< the target names us or processes of our own container
  other_user,           ///< its user is neither ours nor root, and target_uid is not set
  unreadable,           ///< the kernel does not tell whether a process matches
  not_permitted,        ///< we may not signal one of the processes
  system,               ///< the kernel refuses a needed resource
};

struct target_problem {
  target_fault kind;
  std::string text;  ///< what failed, on what, and what to do
};

/// Prepares `workload` to find `what`. A problem here persists until the configuration is changed.
[[nodiscard]] std::expected<void, target_problem> prepare_target(foreign_processes& workload,
                                                                 const settings::target& what);

/// One process of the workload, for people.
struct found_process {
  pid_t pid = 0;
  std::string command;    ///< its command line, cut
  std::string container;  ///< short; empty if cgroups do not tell
  std::string why;        ///< why it belongs
};

/// "process 17 (python3 main.py) in container 3f2a9c0b1d2e: its executable is python3".
[[nodiscard]] std::string text(const found_process& one);

/// The processes that would be stopped now, or why they could not be. An empty list is fine: the
/// main container may start later. Sends no signal. Precondition: `prepare_target` succeeded.
[[nodiscard]] std::expected<std::vector<found_process>, target_problem> survey(
    foreign_processes& workload);

}  // namespace tenure::guard
