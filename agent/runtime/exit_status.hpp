#pragma once

/// The statuses that `tenure` ends with by itself. Stable: scripts rely on them.
/// `tenure exec` passes on the status of its command, as shells do, wherever there is one.
namespace tenure::runtime {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;        ///< the text on stderr says what
inline constexpr int exit_bad_settings = 2;  ///< usage, or a configuration that cannot work
inline constexpr int exit_lease_lost = 3;    ///< with `on_lost: exit`

}  // namespace tenure::runtime
