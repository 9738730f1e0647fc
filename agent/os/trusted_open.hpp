#pragma once

#include <expected>
#include <string>

#include "os/unique_fd.hpp"

/// Files and directories that another user could have put where we look for ours. They are opened
/// first and judged by what the kernel says of the open descriptor, so that nothing can be swapped
/// between the look and the use. Nothing is trusted because of its name.
namespace tenure::os {

/// Why something is not trusted: what it is, and what to do. `missing`: nothing is there.
struct refusal {
  std::string text;
  bool missing = false;
};

/// Opens a directory of ours: the last part of `path` is not a symbolic link, it belongs to our
/// user or to root, and neither its group nor others can write to it. Thread-safe.
std::expected<unique_fd, refusal> open_own_directory(const std::string& path);

/// The same, and makes it first, for our user alone, if nothing is there.
std::expected<unique_fd, refusal> make_own_directory(const std::string& path);

/// Opens a file in a directory that `open_own_directory` has opened: a regular file of our user or
/// root that only its owner can write to. `flags` are those of open(2).
std::expected<unique_fd, refusal> open_own_file(int directory, const std::string& name, int flags);

}  // namespace tenure::os
