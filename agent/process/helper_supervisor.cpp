#include "process/helper_supervisor.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "base/unique_fd.hpp"
#include "process/child_list.hpp"
#include "process/exec_child.hpp"

namespace tenure::process {
namespace {

/// The pipe's descriptor: all above it can then be closed.
constexpr int report_fd = 3;
/// While killing, the keeper looks again after this long even if no death is reported.
constexpr long look_again_ns = 10'000'000;

[[noreturn]] void report(const check_report& what) {
  [[maybe_unused]] const ssize_t sent = ::write(report_fd, &what, sizeof what);
  ::_exit(0);
}

/// Closes every descriptor of the agent: its store, its listeners, its guard.
void drop_descriptors(int pipe) {
  if (pipe != report_fd) ::dup3(pipe, report_fd, O_CLOEXEC);
  ::closefrom(report_fd + 1);
}

/// A check must not read the agent's stdin or write to its log. Returns false with errno set.
bool silence() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return false;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  if (null > STDERR_FILENO) ::close(null);
  return true;
}

/// The agent's handlers would run here and write to state that is shared with the agent.
void drop_handlers() {
  for (int signo = 1; signo < NSIG; ++signo) ::signal(signo, SIG_DFL);
}

/// Makes the kernel send `signo` when the agent dies.
void die_with(pid_t parent, int signo) {
  ::prctl(PR_SET_PDEATHSIG, signo);
  if (::getppid() != parent) ::_exit(0);
}

[[noreturn]] void look(const char* path) {
  constexpr std::int64_t ms_a_second = 1'000;
  constexpr std::int64_t ns_a_ms = 1'000'000;
  struct stat kind{};
  if (::stat(path, &kind) != 0) {
    report({.kind = check_report::what::not_found, .value = errno});
  }
  report({.kind = check_report::what::found,
          .modified_unix_ms = kind.st_mtim.tv_sec * ms_a_second + kind.st_mtim.tv_nsec / ns_a_ms});
}

[[noreturn]] void report_file(bool done) {
  if (!done) report({.kind = check_report::what::not_done, .value = errno});
  report({.kind = check_report::what::done});
}

/// Creates a new file and replaces any file at `path`: it never writes through a link or into
/// another user's file. Returns false with errno set.
bool write_whole(const char* path, const char* text) {
  constexpr mode_t readable_by_all = 0644;
  if (::unlink(path) != 0 && errno != ENOENT) return false;
  const base::unique_fd to(
      ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, readable_by_all));
  if (!to) return false;
  for (std::size_t left = std::strlen(text); left > 0;) {
    const ssize_t written = ::write(to.get(), text, left);
    if (written < 0) return false;
    text += written;
    left -= static_cast<std::size_t>(written);
  }
  return true;
}

[[noreturn]] void handle_file(const keeper_request& what) {
  switch (what.what) {
    case keeper_request::job::write:
      report_file(write_whole(what.new_path, what.text) && ::rename(what.new_path, what.path) == 0);
    case keeper_request::job::remove:
      report_file(::unlink(what.path) == 0 || errno == ENOENT);
    default:
      look(what.path);
  }
}

/// A program and all its descendants.
class kept_program {
 public:
  [[noreturn]] void run(const keeper_request& what) {
    if (!silence()) give_up(errno);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    lists_children_ = children_.open(::getpid());
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) give_up(errno);
    {
      const base::unique_fd theirs(ends[1]);
      leader_ = fork_and_exec({.program = what.argv[0],
                               .search_path = true,
                               .argv = what.argv,
                               .environment = what.environment,
                               .dies_with_us = true,
                               .error_pipe = theirs.get()});
      if (leader_ < 0) give_up(errno);
    }
    group_ = leader_;
    while (!reap()) wait();
    int error = 0;
    if (::read(ends[0], &error, sizeof error) == sizeof error) give_up(error);
    report({.kind = check_report::what::ended, .value = status_});
  }

 private:
  [[noreturn]] static void give_up(int error) {
    report({.kind = check_report::what::not_executed, .value = error});
  }

  /// Waits for a death or for the order to end.
  void wait() {
    if (killing_) kill_all();
    sigset_t awaited;
    ::sigemptyset(&awaited);
    ::sigaddset(&awaited, SIGCHLD);
    ::sigaddset(&awaited, keeper_end_signal);
    const timespec again{.tv_sec = 0, .tv_nsec = look_again_ns};
    const int signo =
        killing_ ? ::sigtimedwait(&awaited, nullptr, &again) : ::sigwaitinfo(&awaited, nullptr);
    killing_ = killing_ || signo == keeper_end_signal;
  }

  /// True if nothing is left.
  bool reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid < 0 && errno == EINTR) continue;
      if (pid < 0) return true;
      if (pid == 0) return false;
      if (pid != leader_) continue;
      leader_ = 0;
      status_ = status;
      // Processes that the program leaves behind do not belong to the check.
      killing_ = true;
    }
  }

  /// Uses only ids that cannot be reused: of children not yet reaped, and of groups with such a
  /// child. Deeper descendants become our children when their parents die.
  void kill_all() {
    if (leader_ != 0) ::kill(-group_, SIGKILL);
    if (!lists_children_) return;
    children_.rewind();
    while (const auto child = children_.next()) {
      const pid_t group = ::getpgid(*child);
      ::kill(group == *child || group == group_ ? -group : *child, SIGKILL);
    }
  }

  child_list children_;
  bool lists_children_ = false;
  pid_t leader_ = 0;  ///< 0 once reaped
  pid_t group_ = 0;
  int status_ = 0;
  bool killing_ = false;
};

}  // namespace

void keep_check(const keeper_request& what) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, "tenure-check");
  drop_handlers();
  drop_descriptors(what.report_to);
  if (what.what != keeper_request::job::execute) {
    die_with(what.parent, SIGKILL);
    handle_file(what);
  }
  die_with(what.parent, keeper_end_signal);
  kept_program().run(what);
}

}  // namespace tenure::process
