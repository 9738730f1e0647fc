#pragma once

/// The statuses with which `tenure` itself ends. Stable: scripts rely on them. `tenure exec` passes
/// on the status of its command, as shells do, if there is one.
namespace tenure::runtime {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;        ///< the text on stderr says why
inline constexpr int exit_bad_settings = 2;  ///< usage, or a configuration that cannot work
inline constexpr int exit_lease_lost = 3;    ///< with `on_lost: exit`
// For commands that ask a running agent, for which 1 means "no". None of these is a yes or a no.
inline constexpr int exit_cannot_tell = 4;  ///< the agent has no answer now
inline constexpr int exit_no_agent = 5;     ///< no agent has answered
inline constexpr int exit_timed_out =
    124;  ///< the condition was not met in time, as with timeout(1)

}  // namespace tenure::runtime
