#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "base/unique_fd.hpp"

/// Copies a program for other containers into a directory that they share.
namespace tenure::base {

enum class copied : std::uint8_t {
  written,
  unchanged,  ///< the same program is there already, and everybody can execute it
};

/// Copies all of `source` to `name` in `directory`, as a file of our user that everybody can
/// execute and only its owner can write to (mode 0755).
///
/// A process that opens `name` meanwhile gets the old file or all of the new one, even after a
/// power failure: the copy has another name (".NAME." and 16 digits) until it is on disk. If the
/// caller is killed meanwhile, the file with that other name stays. A program that runs from the
/// old file goes on. If `name` is a symbolic link, the file replaces the link.
///
/// `unchanged` needs the same bytes, that mode, and our user or root as the owner; then nothing is
/// written, so the directory may be read-only.
///
/// The error says what failed and what to do. Ignores the offset of `source`. Thread-safe.
std::expected<copied, std::string> copy_program(const unique_fd& source,
                                                const std::string& directory,
                                                const std::string& name);

}  // namespace tenure::base
