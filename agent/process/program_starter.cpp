#include "process/program_starter.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "base/file_limit.hpp"
#include "process/bare_call.hpp"
#include "process/exec_status.hpp"

namespace tenure::process {
namespace {

/// The child calls nothing but the kernel.
constexpr std::size_t stack_bytes = 64 * 1024;
constexpr const char* shell = "/bin/sh";
constexpr std::string_view default_path = "/bin:/usr/bin";

/// Where execvp looks for the program.
std::vector<std::string> paths_to(const std::string& program) {
  if (program.empty() || program.contains('/')) return {program};
  const char* const set = std::getenv("PATH");
  std::string_view rest = set != nullptr ? std::string_view(set) : default_path;
  std::vector<std::string> out;
  for (;;) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string_view directory = rest.substr(0, end);
    // An empty one is the working directory.
    out.push_back(directory.empty() ? program : std::string(directory) + '/' + program);
    if (end == rest.size()) return out;
    rest.remove_prefix(end + 1);
  }
}

/// True if execvp goes on to the next directory.
bool is_elsewhere(long error) {
  return error == ENOENT || error == ENOTDIR || error == ESTALE || error == ENODEV ||
         error == ETIMEDOUT || error == EACCES;
}

}  // namespace

void program_starter::prepare(const std::string& program, std::size_t arguments) {
  paths_ = paths_to(program);
  // "/bin/sh", the path, and the arguments after the first.
  of_shell_.assign(std::max<std::size_t>(arguments, 1) + 2, nullptr);
  stack_ = std::make_unique<std::byte[]>(stack_bytes);
}

pid_t program_starter::start(const exec_request& what) {
  what_ = what;
  file_limit_ = base::file_limit_of_programs();
  parent_ = ::getpid();
  const pid_t child =
      ::clone(&program_starter::run, stack_.get() + stack_bytes, shares_memory | SIGCHLD, this);
  // In both processes, so that the group exists whichever of them runs first.
  if (child > 0) ::setpgid(child, child);
  return child;
}

// From here on: in the child, whose memory is that of its parent, which runs. It changes none of
// it but its stack and `of_shell_`, and `errno` is the parent's.

int program_starter::run(void* of) {
  const int status = static_cast<program_starter*>(of)->become();
  for (;;) bare_call(SYS_exit_group, status);
}

/// Returns the status to exit with, if it cannot become the program.
int program_starter::become() {
  if (!set_up_child(what_, parent_, file_limit_)) return exit_guard_unusable;
  return report_failed_exec(what_, static_cast<int>(execute()));
}

/// As execvp. Returns the errno, if no program could be executed.
long program_starter::execute() {
  bool is_forbidden = false;
  long error = ENOENT;
  for (const std::string& path : paths_) {
    error = -bare_call(SYS_execve, path.c_str(), what_.argv, what_.environment);
    if (error == ENOEXEC) return execute_by_shell(path);
    is_forbidden = is_forbidden || error == EACCES;
    if (!is_elsewhere(error)) return error;
  }
  return is_forbidden ? EACCES : error;
}

/// A script whose first line does not name its interpreter. Returns the errno if that fails.
long program_starter::execute_by_shell(const std::string& script) {
  of_shell_[0] = shell;
  of_shell_[1] = script.c_str();
  for (std::size_t i = 1; i + 1 < of_shell_.size() - 1 && what_.argv[i] != nullptr; ++i) {
    of_shell_[i + 1] = what_.argv[i];
  }
  return -bare_call(SYS_execve, shell, of_shell_.data(), what_.environment);
}

}  // namespace tenure::process
