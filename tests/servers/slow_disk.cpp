#include "servers/slow_disk.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <thread>

namespace tenure::servers {
namespace {

constexpr std::chrono::milliseconds between_looks{5};

bool is_traced(const std::filesystem::path& thread) {
  std::ifstream status(thread / "status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("TracerPid:")) return line.find_first_of("123456789") != std::string::npos;
  }
  return true;  // it has ended meanwhile
}

bool all_traced(pid_t process) {
  std::error_code gone;
  const auto threads = "/proc/" + std::to_string(process) + "/task";
  for (const auto& one : std::filesystem::directory_iterator(threads, gone)) {
    if (!is_traced(one.path())) return false;
  }
  return !gone;
}

}  // namespace

slow_disk::slow_disk(pid_t process, std::chrono::seconds each, const std::filesystem::path& log)
    : strace_({"/usr/bin/strace", "-f", "-q", "-o", "/dev/null", "-e", "trace=fdatasync", "-e",
               "inject=fdatasync:delay_enter=" +
                   std::to_string(std::chrono::microseconds(each).count()),
               "-p", std::to_string(process)},
              log) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!all_traced(process)) {
    if (!strace_.runs() || std::chrono::steady_clock::now() > until) {
      ADD_FAILURE() << "strace cannot hold the disk of process " << process << " back; see " << log;
      return;
    }
    std::this_thread::sleep_for(between_looks);
  }
}

}  // namespace tenure::servers
