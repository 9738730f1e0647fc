#include "servers/slow_disk.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "support/eventually.hpp"

namespace tenure::servers {
namespace {

using tests::eventually;

constexpr std::chrono::milliseconds between_looks{5};

/// What the kernel says of a thread under this name; nothing if it has ended.
std::optional<std::string> status_of(const std::filesystem::path& thread, const std::string& name) {
  std::ifstream status(thread / "status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  }
  return std::nullopt;
}

bool is_traced(const std::filesystem::path& thread) {
  return status_of(thread, "TracerPid") != "0";
}

/// Stopped by strace as it enters the system call, whose number is first in proc_pid_syscall(5).
bool is_held(const std::filesystem::path& thread) {
  std::ifstream call(thread / "syscall");
  long number = -1;
  return call >> number && number == SYS_fdatasync &&
         status_of(thread, "State").value_or("").starts_with("t");
}

std::filesystem::path threads_of(pid_t process) {
  return "/proc/" + std::to_string(process) + "/task";
}

bool all_traced(pid_t process) {
  std::error_code gone;
  for (const auto& one : std::filesystem::directory_iterator(threads_of(process), gone)) {
    if (!is_traced(one.path())) return false;
  }
  return !gone;
}

bool any_held(pid_t process) {
  std::error_code gone;
  const std::filesystem::directory_iterator threads(threads_of(process), gone);
  return std::any_of(begin(threads), end(threads), is_held);
}

}  // namespace

slow_disk::slow_disk(pid_t process, std::chrono::seconds each, const std::filesystem::path& log)
    : process_(process),
      strace_({"/usr/bin/strace", "-f", "-q", "-o", "/dev/null", "-e", "trace=fdatasync", "-e",
               "inject=fdatasync:delay_enter=" +
                   std::to_string(std::chrono::microseconds(each).count()),
               "-p", std::to_string(process)},
              log) {
  const bool traced =
      eventually([&] { return all_traced(process) || !strace_.runs(); }, between_looks) &&
      strace_.runs();
  EXPECT_TRUE(traced) << "strace cannot hold the disk of process " << process << " back; see "
                      << log;
}

bool slow_disk::holds() const {
  return eventually([this] { return any_held(process_); }, between_looks);
}

}  // namespace tenure::servers
