#pragma once

#include <string>

namespace tenure::base {

/// The directory of the sockets by which commands find this user's agents: /run/tenure for root,
/// $XDG_RUNTIME_DIR/tenure or /run/user/UID/tenure for others. Empty if there is no such place, as
/// in a container of another user. The directory may not exist yet.
std::string default_runtime_directory();

}  // namespace tenure::base
