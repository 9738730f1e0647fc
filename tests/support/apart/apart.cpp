// apart COMMAND [ARGUMENT]...: COMMAND as on a machine of its own, so that tests can run side by
// side that look at all processes, at /run, or at ports that are not theirs to choose. It has its
// own processes, loopback interface and /run; the files, the clock and the processors are those of
// all.
//
// A witness looks whether the machine itself stands still, as one does that shares its processors
// with others. What fails while it did is run once more, and the output says so: a lease of two
// seconds says nothing about a machine that was away for one.
//
// Ends with COMMAND's status, 128 + N if signal N ended it, or with 125 and a reason.
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int cannot = 125;
constexpr milliseconds witness_sleep{20};
/// Half of the kill_budget that most tests have.
constexpr milliseconds stood_still{250};

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "apart: cannot %s: %s\n", what.c_str(), std::strerror(errno));
  ::_exit(cannot);
}

int status_of(int waited) {
  return WIFEXITED(waited) ? WEXITSTATUS(waited) : 128 + WTERMSIG(waited);
}

void furnish() {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    give_up("keep mounts to itself");
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    give_up("mount /proc");
  }
  if (::mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") != 0)
    give_up("mount /run");
  const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq loopback{};
  std::strncpy(loopback.ifr_name, "lo", IFNAMSIZ - 1);
  loopback.ifr_flags = IFF_UP | IFF_RUNNING;
  if (any < 0 || ::ioctl(any, SIOCSIFFLAGS, &loopback) != 0)
    give_up("bring its loopback interface up");
  ::close(any);
}

struct outcome {
  int status;
  milliseconds longest_stop;
};

/// Runs it as the first process of the namespace does: reaps what others leave behind.
outcome run(char** command) {
  const pid_t test = ::fork();
  if (test < 0) give_up("start a process");
  if (test == 0) {
    ::execvp(command[0], command);
    give_up(std::string("run ") + command[0]);
  }
  milliseconds longest{0};
  for (;;) {
    const auto before = steady_clock::now();
    std::this_thread::sleep_for(witness_sleep);
    const auto late =
        std::chrono::floor<milliseconds>(steady_clock::now() - before) - witness_sleep;
    longest = std::max(longest, late);
    int waited = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &waited, WNOHANG)) > 0) {
      if (ended == test) return {status_of(waited), longest};
    }
  }
}

int first_process(char** command) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  furnish();
  outcome of = run(command);
  if (of.status != 0 && of.longest_stop >= stood_still) {
    std::printf("apart: ended with %d, but the machine stood still for %lld ms: once more\n",
                of.status, static_cast<long long>(of.longest_stop.count()));
    std::fflush(stdout);
    ::kill(-1, SIGKILL);
    of = run(command);
  }
  return of.status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: apart COMMAND [ARGUMENT]...\n", stderr);
    return cannot;
  }
  if (::unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC) != 0)
    give_up("make namespaces");
  const pid_t first = ::fork();
  if (first < 0) give_up("start a process");
  if (first == 0) ::_exit(first_process(argv + 1));
  int waited = 0;
  while (::waitpid(first, &waited, 0) < 0 && errno == EINTR) {
  }
  return status_of(waited);
}
