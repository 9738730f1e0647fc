#pragma once

#include <string>

namespace tenure::base {

/// Has the sockets of root's agents, and a directory for each unit of systemd that runs as another
/// user.
inline constexpr const char* system_runtime_directory = "/run/tenure";

/// The directory of the sockets by which commands find this user's agents: /run/tenure for root;
/// for others $XDG_RUNTIME_DIR/tenure, the RUNTIME_DIRECTORY of a unit if it is in /run/tenure,
/// /run/user/UID/tenure, or /tmp/tenure-UID. Empty if there is no such place, as in a container
/// without /tmp. The directory may not exist yet, and in /tmp it may be anybody's: use it through
/// `open_own_directory` or `make_own_directory`.
std::string default_runtime_directory();

/// NAME, if this is a unit of systemd with RuntimeDirectory=tenure/NAME, as tenure@NAME is; else
/// empty.
std::string unit_name();

/// The directory of the setting `runtime_dir`: `given`, or the default if that is empty. Empty if
/// there is none, as with "off".
std::string runtime_directory(const std::string& given);

}  // namespace tenure::base
