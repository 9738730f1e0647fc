#pragma once

#include <optional>
#include <string>

namespace tenure::cli {

/// A variable of the environment; nothing if it is unset or empty.
std::optional<std::string> variable(const char* name);

}  // namespace tenure::cli
