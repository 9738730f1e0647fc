#pragma once

#include <string>

namespace tenure::base {

/// Has the sockets of root's agents, and a directory for each unit of systemd that runs as another
/// user.
inline constexpr const char* system_runtime_directory = "/run/tenure";

/// The directory of the sockets by which commands find this user's agents: /run/tenure for root;
/// for others $XDG_RUNTIME_DIR/tenure, the RUNTIME_DIRECTORY of a unit if it is in /run/tenure, or
/// /run/user/UID/tenure. Empty if there is no such place, as in a container of another user. The
/// directory may not exist yet.
std::string default_runtime_directory();

}  // namespace tenure::base
