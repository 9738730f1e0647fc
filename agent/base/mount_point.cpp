#include "base/mount_point.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string_view>

namespace tenure::base {
namespace {

/// Undoes the kernel's escapes in a path: blanks and backslashes are octal, e.g. "\040".
std::string unescaped(std::string_view word) {
  constexpr std::size_t digits = 3;
  std::string out;
  for (std::size_t at = 0; at < word.size(); ++at) {
    if (word[at] != '\\' || word.size() - at <= digits) {
      out += word[at];
      continue;
    }
    unsigned code = 0;
    for (const char digit : word.substr(at + 1, digits)) {
      code = code * 8 + static_cast<unsigned>(digit - '0');
    }
    out += static_cast<char>(code);
    at += digits;
  }
  return out;
}

}  // namespace

bool is_mount_point(const unique_fd& file, const std::string& path) {
  struct statx about{};
  if (::statx(file.get(), "", AT_EMPTY_PATH, STATX_TYPE, &about) == 0 &&
      (about.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0) {
    return (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  }
  std::ifstream mounts("/proc/self/mountinfo");
  return lists_mount_point(mounts, path);
}

bool lists_mount_point(std::istream& mounts, const std::string& path) {
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string id, parent, device, root, point;
    if (words >> id >> parent >> device >> root >> point && unescaped(point) == path) return true;
  }
  return false;
}

}  // namespace tenure::base
