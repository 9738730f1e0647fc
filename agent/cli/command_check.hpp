#pragma once

#include <optional>
#include <string>

namespace tenure::cli {

/// Looks for the program of a command as execvp would, before anything is held for it. If it cannot
/// be executed, that is said on stderr and the status to exit with is returned: 127 if it does not
/// exist, 126 otherwise, as shells have it.
std::optional<int> refuse_command(const std::string& verb, const std::string& program);

}  // namespace tenure::cli
