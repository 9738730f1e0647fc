#pragma once

#include <string>

namespace tenure::base {

/// Where agents of this user leave the sockets by which its commands find them: /run/tenure for
/// root, $XDG_RUNTIME_DIR/tenure or /run/user/UID/tenure for others. Empty if there is no such
/// place, as in a container of another user. It need not exist yet.
std::string default_runtime_directory();

}  // namespace tenure::base
