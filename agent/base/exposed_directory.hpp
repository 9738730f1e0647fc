#pragma once

#include <string>

namespace tenure::base {

/// Why a file that SQLite keeps cannot be in `directory`: every user can make files and links
/// there. Empty if that is not so, or the directory cannot be looked at. Thread-safe.
std::string why_exposed(const std::string& directory);

}  // namespace tenure::base
