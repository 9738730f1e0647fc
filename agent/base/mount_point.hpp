#pragma once

#include <istream>
#include <string>

#include "base/unique_fd.hpp"

namespace tenure::base {

/// True if something is mounted at exactly this file or directory, e.g. a single file bound into a
/// container; false for a file inside a mounted directory.
///
/// `file`: open; O_PATH is enough. `path`: its absolute path without links, for kernels before 5.8,
/// which cannot tell from the descriptor. Thread-safe.
[[nodiscard]] bool is_mount_point(const unique_fd& file, const std::string& path);

/// True if a line of this /proc/PID/mountinfo describes a mount at `path`.
[[nodiscard]] bool lists_mount_point(std::istream& mounts, const std::string& path);

}  // namespace tenure::base
