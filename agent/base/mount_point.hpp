#pragma once

#include <istream>
#include <string>

#include "base/unique_fd.hpp"

namespace tenure::base {

/// True if something is mounted at exactly this file or directory, e.g. a single file that was
/// bound into a container; false for what lies in a directory that is mounted.
///
/// `file`: open, O_PATH will do. `path`: its absolute path without links, for kernels before 5.8,
/// which do not say it of the file. Thread-safe.
[[nodiscard]] bool is_mount_point(const unique_fd& file, const std::string& path);

/// True if one of the lines of a /proc/PID/mountinfo is of a mount at `path`.
[[nodiscard]] bool lists_mount_point(std::istream& mounts, const std::string& path);

}  // namespace tenure::base
