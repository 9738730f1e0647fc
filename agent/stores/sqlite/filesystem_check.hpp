#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

/// Which file systems a lease file may be on.
///
/// WAL needs memory that all openers share, so a single kernel, and locks that exclude others.
/// Network file systems have neither: two hosts could each believe that they alone hold the lock.
namespace tenure::stores::sqlite {

enum class filesystem_verdict : std::uint8_t {
  network,          ///< several kernels, or none that keeps our locks: refused
  volatile_memory,  ///< gone after a reboot, and the versions with it: a warning
};

struct filesystem_kind {
  std::string_view name;
  filesystem_verdict verdict;
};

/// What is wrong with a file system of this `statfs::f_type`; nothing for a local disk.
std::optional<filesystem_kind> judge_filesystem(std::uint32_t type);

/// Checks the file system that `path` is on. Returns a warning (empty if all is well), or why
/// leases must not be kept there.
std::expected<std::string, std::string> check_filesystem(const std::string& path);

}  // namespace tenure::stores::sqlite
