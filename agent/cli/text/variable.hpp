#pragma once

#include <optional>
#include <string>

namespace tenure::cli {

/// An environment variable; nothing if it is unset or empty.
std::optional<std::string> variable(const char* name);

}  // namespace tenure::cli
