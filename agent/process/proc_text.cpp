#include "process/proc_text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/unique_fd.hpp"

namespace tenure::process {
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
  const base::unique_fd fd(::open(path, O_RDONLY | O_CLOEXEC));
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

std::optional<process_users> users_of(pid_t pid) {
  // The line is one of the first, after a name of 64 bytes at most.
  std::array<char, 1024> room{};
  const auto status = read_proc(pid, "status", std::span(room).first(room.size() - 1));
  if (!status) return std::nullopt;
  const char* const line = std::strstr(room.data(), "\nUid:");
  process_users out;
  if (line == nullptr || std::sscanf(line, "\nUid: %u %u", &out.real, &out.effective) != 2) {
    return std::nullopt;
  }
  return out;
}

}  // namespace tenure::process
