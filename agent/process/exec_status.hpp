#pragma once

namespace tenure::process {

/// Exit statuses of the guard besides the workload's and the agent's own.
inline constexpr int exit_guard_unusable = 125;          ///< the guard itself could not start
inline constexpr int exit_command_not_executable = 126;  ///< as shells do
inline constexpr int exit_command_not_found = 127;       ///< as shells do

}  // namespace tenure::process
