#include "base/process_usage.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <limits>
#include <memory>
#include <string>

namespace tenure::base {
namespace {

/// When the machine was booted, on the wall clock.
double boot_unix_seconds() {
  std::ifstream file("/proc/stat");
  unsigned long long seconds = 0;
  for (std::string line; std::getline(file, line);) {
    if (std::sscanf(line.c_str(), "btime %llu", &seconds) == 1) break;
  }
  return static_cast<double>(seconds);
}

/// Does not count the descriptor that reads the directory.
std::uint64_t count_fds() {
  struct close_folder {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  const std::unique_ptr<DIR, close_folder> folder(::opendir("/proc/self/fd"));
  if (!folder) return 0;
  std::uint64_t count = 0;
  while (const dirent* one = ::readdir(folder.get())) {
    if (one->d_name[0] != '.') ++count;
  }
  return count - 1;
}

std::uint64_t fd_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return limit.rlim_cur;
}

}  // namespace

std::optional<process_usage> read_process_usage() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  // The program's name may contain blanks and parentheses.
  const std::size_t name_ends = text.rfind(')');
  if (name_ends == std::string::npos) return std::nullopt;
  unsigned long long user = 0;
  unsigned long long kernel = 0;
  unsigned long long threads = 0;
  unsigned long long started = 0;
  unsigned long long address_space = 0;
  unsigned long long resident_pages = 0;
  // Fields 3 to 24 of proc(5): 14 and 15, 20, 22 to 24 are read.
  constexpr const char* fields =
      " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu"
      " %*s %*s %*s %*s %llu %*s %llu %llu %llu";
  if (std::sscanf(text.c_str() + name_ends + 1, fields, &user, &kernel, &threads, &started,
                  &address_space, &resident_pages) != 6) {
    return std::nullopt;
  }
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return process_usage{
      .cpu_seconds = static_cast<double>(user + kernel) / ticks,
      .start_unix_seconds = boot_unix_seconds() + static_cast<double>(started) / ticks,
      .resident_bytes = resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)),
      .virtual_bytes = address_space,
      .threads = threads,
      .open_fds = count_fds(),
      .max_fds = fd_limit(),
  };
}

}  // namespace tenure::base
