#include "workload/proc_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "os/unique_fd.hpp"

namespace tenure::workload {
namespace {

constexpr std::size_t path_room = 48;

std::expected<std::string_view, int> read_all(int fd, std::span<char> room) {
  std::size_t used = 0;
  while (used < room.size()) {
    const ssize_t got = ::read(fd, room.data() + used, room.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  return std::string_view(room.data(), used);
}

}  // namespace

std::expected<std::string_view, int> read_proc(pid_t pid, const char* name, std::span<char> room) {
  char path[path_room];
  std::snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  const os::unique_fd fd(::open(path, O_RDONLY | O_CLOEXEC));
  if (!fd) return std::unexpected(errno);
  return read_all(fd.get(), room);
}

std::expected<std::string_view, int> read_executable(pid_t pid, std::span<char> room) {
  char path[path_room];
  std::snprintf(path, sizeof path, "/proc/%d/exe", pid);
  const ssize_t got = ::readlink(path, room.data(), room.size());
  if (got < 0) return std::unexpected(errno);
  return std::string_view(room.data(), static_cast<std::size_t>(got));
}

std::expected<std::string_view, int> read_file(const char* path, std::span<char> room,
                                               timespec& written) {
  const os::unique_fd fd(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return std::unexpected(errno);
  struct stat about{};
  if (::fstat(fd.get(), &about) != 0) return std::unexpected(errno);
  if (!S_ISREG(about.st_mode)) return std::unexpected(EINVAL);
  written = about.st_mtim;
  return read_all(fd.get(), room);
}

}  // namespace tenure::workload
