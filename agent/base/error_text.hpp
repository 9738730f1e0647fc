#pragma once

#include <string>

namespace tenure::base {

/// "No such file or directory (ENOENT)", for an errno value. Thread-safe.
std::string error_text(int error);

}  // namespace tenure::base
