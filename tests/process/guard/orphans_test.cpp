// An agent without a guard that cannot look never reports that no process is left.

#include "guard/orphans.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <string>

#include "base/unique_fd.hpp"
#include "process/pidfd.hpp"
#include "support/eventually.hpp"
#include "support/other_process.hpp"
#include "support/sanitized.hpp"

namespace tenure::tests {
namespace {

using namespace tenure::guard;
using namespace tenure::process;

/// Runs `in_child` in a process with only the standard descriptors; returns its result.
bool holds_in_child(const std::function<bool()>& in_child) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close_range(3, ~0U, 0);
    ::_exit(in_child() ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool lives(const base::unique_fd& process) {
  pollfd one{.fd = process.get(), .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 0;
}

/// The result of a look with only `count` free descriptors.
remains look_with(rlim_t count, orphans& left) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const auto used = static_cast<rlim_t>(base::unique_fd(::open("/dev/null", O_RDONLY)).get());
  const rlimit few{.rlim_cur = used + count, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  const remains found = left.kill_all();
  ::setrlimit(RLIMIT_NOFILE, &before);
  return found;
}

/// True if `one` is killed once there are enough descriptors, and no earlier look reports that
/// nothing is left.
bool is_never_overlooked(pid_t one, orphans& left) {
  const base::unique_fd process = open_pidfd(one);
  constexpr rlim_t enough = 16;
  for (rlim_t count = 0; count < enough && lives(process); ++count) {
    if (look_with(count, left) == remains::nothing && lives(process)) return false;
  }
  return eventually([&] { return !lives(process); });
}

bool has_mark(pid_t pid, const std::string& entry) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  std::string first;
  return std::getline(file, first, '\0') && first == entry;
}

TEST(OrphansWithoutDescriptors, DaemonWithTheMarkIsNotTakenForAStranger) {
  // It looks at the types of streams, through a pipe of its own.
  if (sanitized) GTEST_SKIP() << "the undefined-behaviour sanitizer needs descriptors";
  const other_process guard(sleep_on);
  std::string entry = "TENURE_RUN=orphans-test";
  const other_process daemon([&] {
    ::setsid();
    std::string program = "sleep";
    std::string seconds = "600";
    char* const arguments[] = {program.data(), seconds.data(), nullptr};
    char* const environment[] = {entry.data(), nullptr};
    ::execve("/bin/sleep", arguments, environment);
  });
  ASSERT_TRUE(eventually([&] { return has_mark(daemon.pid(), entry); }));
  EXPECT_TRUE(holds_in_child([&] {
    orphans left(guard.pid());
    left.expect_mark(entry);
    const base::unique_fd ending = open_pidfd(guard.pid());
    ::kill(guard.pid(), SIGKILL);
    return eventually([&] { return !lives(ending); }) && is_never_overlooked(daemon.pid(), left);
  }));
}

/// In megabytes; 0 if it is gone.
std::size_t resident(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  std::size_t pages = 0;
  file >> pages >> pages;
  return pages / 256;
}

/// A daemon of a dead guard that is killed shows no environment any more, while it frees its
/// memory. The first look comes before it is killed, or after.
class DyingDaemon : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(KilledBefore, DyingDaemon, ::testing::Bool());

TEST_P(DyingDaemon, IsNotTakenForDead) {
  constexpr std::size_t megabytes = 512;
  const other_process guard(sleep_on);
  std::string entry = "TENURE_RUN=orphans-test";
  const other_process daemon([&] {
    ::setsid();
    std::string program = "python3";
    std::string option = "-c";
    std::string text =
        "import time; much = b'x' * (" + std::to_string(megabytes) + " << 20); time.sleep(600)";
    char* const arguments[] = {program.data(), option.data(), text.data(), nullptr};
    char* const environment[] = {entry.data(), nullptr};
    ::execve("/usr/bin/python3", arguments, environment);
  });
  ASSERT_TRUE(eventually([&] { return resident(daemon.pid()) >= megabytes; }));
  EXPECT_TRUE(holds_in_child([&] {
    orphans left(guard.pid());
    left.expect_mark(entry);
    const base::unique_fd ending = open_pidfd(guard.pid());
    const base::unique_fd process = open_pidfd(daemon.pid());
    ::kill(guard.pid(), SIGKILL);
    if (!eventually([&] { return !lives(ending); })) return false;
    if (GetParam()) ::kill(daemon.pid(), SIGKILL);
    bool overlooked = false;
    while (lives(process)) {
      overlooked |= left.kill_all() == remains::nothing && lives(process);
    }
    return !overlooked;
  }));
}

TEST(OrphansWithoutDescriptors, ChildOfAFrozenGuardIsNotTakenForDead) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const base::unique_fd read_end(ends[0]);
  const base::unique_fd write_end(ends[1]);
  // It does not reap, as if it were frozen.
  const other_process guard([&] {
    if (::fork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const pid_t self = ::getpid();
      if (::write(write_end.get(), &self, sizeof self) != sizeof self) return;
    }
    sleep_on();
  });
  pid_t child = 0;
  ASSERT_EQ(::read(read_end.get(), &child, sizeof child), sizeof child);
  EXPECT_TRUE(holds_in_child([&] {
    orphans left(guard.pid());
    return is_never_overlooked(child, left);
  }));
}

}  // namespace
}  // namespace tenure::tests
