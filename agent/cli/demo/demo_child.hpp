#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenure::cli {

/// In a child of the demo: executes `program`, which is looked up in PATH, with the arguments
/// `words`. Its output is added to `log`. It gets `end` if the demo itself is killed; Ctrl-C is for
/// the demo alone.
[[noreturn]] void become(const std::string& program, const std::vector<std::string>& words,
                         const std::filesystem::path& log, int end);

}  // namespace tenure::cli
