#pragma once

#include <optional>
#include <string>

namespace tenure::cli {

/// Looks for the program of a command as execvp would, before the lease is acquired for it. If it
/// cannot be executed, prints why on stderr and returns the exit status that shells use: 127 if it
/// does not exist, otherwise 126.
std::optional<int> refuse_command(const std::string& verb, const std::string& program);

}  // namespace tenure::cli
