// The program that the tests of the process finder run, always inside a pod of theirs.
//
//     target_stage pause              process 1: reaps
//     target_stage find KIND VALUE    finds and signals, by orders on stdin; then no allocation
//     target_stage survey KIND VALUE  prints what people are told; status: the fault's number
//     target_stage headless           a workload whose first thread ends on SIGUSR1
//     target_stage stuck              a workload in state D
//     target_stage spawning FILE      a workload in state D until its child, which has the same
//                                     command line, has ended; SIGUSR1 makes FILE, or FILE.child
//     target_stage neglect CMD...     runs CMD and never reaps it
//     target_stage storm              a workload that forks as fast as it can

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "guard/foreign_processes.hpp"
#include "guard/malloc_trap.hpp"
#include "guard/target_check.hpp"
#include "support/eventually.hpp"

namespace {

using namespace tenure;

constexpr int usage_status = 64;

/// "executable", "command_line" or "pid_file"; with "@1000", of user 1000.
settings::target target_from(std::string_view kind, const char* value) {
  using enum settings::target::kind;
  settings::target out{.value = value};
  const auto at = kind.find('@');
  if (at != kind.npos) out.uid = static_cast<uid_t>(std::atoi(kind.data() + at + 1));
  kind = kind.substr(0, at);
  out.by = kind == "executable" ? executable : kind == "command_line" ? command_line : pid_file;
  return out;
}

void say(const char* line) {
  if (::write(STDOUT_FILENO, line, std::string_view(line).size()) < 0) ::_exit(1);
}

void say(const guard::tally& found) {
  char line[160];
  std::snprintf(line, sizeof line,
                "left=%zu matching=%zu stuck=%zu denied=%zu unreadable=%zu complete=%d\n",
                found.left, found.matching, found.stuck, found.denied, found.unreadable,
                found.complete ? 1 : 0);
  say(line);
}

void say_members(const guard::foreign_processes& workload) {
  for (const process::member& one : workload.members()) {
    char text[32];
    std::snprintf(text, sizeof text, "%d%c ", one.pid, one.state);
    if (!one.gone()) say(text);
  }
  say("\n");
}

void say_number(int number) {
  char line[16];
  std::snprintf(line, sizeof line, "%d\n", number);
  say(line);
}

int held_pidfds(const guard::foreign_processes& workload) {
  int held = 0;
  for (const process::member& one : workload.members()) held += one.fd ? 1 : 0;
  return held;
}

/// The next line of stdin; empty at its end.
std::string_view next_order(std::span<char> room) {
  std::size_t used = 0;
  while (used < room.size() && ::read(STDIN_FILENO, &room[used], 1) == 1) {
    if (room[used] == '\n') return {room.data(), used};
    ++used;
  }
  return {};
}

bool carry_out(std::string_view order, guard::foreign_processes& workload) {
  if (order == "look") {
    say(workload.look());
  } else if (order == "members") {
    say_members(workload);
  } else if (order == "term") {
    say(workload.signal_all(SIGTERM));
  } else if (order == "gain") {
    say(workload.signal_matches(SIGUSR1, guard::if_undecided::wait));
  } else if (order == "kill") {
    say(workload.kill_all());
  } else if (order == "death") {
    pollfd deaths{.fd = workload.deaths(), .events = POLLIN, .revents = 0};
    const auto most = std::chrono::milliseconds(tests::eventually_within).count();
    say(::poll(&deaths, 1, static_cast<int>(most)) == 1 ? "death\n" : "(nothing)\n");
  } else if (order == "count") {
    say_number(static_cast<int>(workload.members().size()));
  } else if (order == "pidfds") {
    say_number(held_pidfds(workload));
  } else {
    return false;
  }
  return true;
}

int find(std::string_view kind, const char* value) {
  const auto workload = std::make_unique<guard::foreign_processes>(guard::reader_that_waits());
  const auto prepared = guard::prepare_target(*workload, target_from(kind, value));
  if (!prepared) {
    std::fprintf(stderr, "%s\n", prepared.error().text.c_str());
    return 1;
  }
  say("ready\n");
  tests::allow_no_allocation();
  char room[64];
  for (;;) {
    const std::string_view order = next_order(room);
    if (!carry_out(order, *workload)) return 0;
  }
}

int complain(const guard::target_problem& wrong) {
  std::printf("%s\n", wrong.text.c_str());
  return 100 + static_cast<int>(wrong.kind);
}

int survey(std::string_view kind, const char* value) {
  const auto workload = std::make_unique<guard::foreign_processes>(guard::reader_that_waits());
  const auto prepared = guard::prepare_target(*workload, target_from(kind, value));
  if (!prepared) return complain(prepared.error());
  const auto found = guard::survey(*workload);
  if (!found) return complain(found.error());
  for (const auto& one : *found) std::printf("%s\n", guard::text(one).c_str());
  return 0;
}

/// Ends, and the namespace with it, when the process at the other end of stdin has ended.
int be_pause() {
  ::signal(SIGCHLD, SIG_IGN);  // the kernel reaps
  say("ready\n");
  char room[64];
  while (::read(STDIN_FILENO, room, sizeof room) > 0) {
  }
  return 0;
}

int be_headless() {
  sigset_t asked;
  ::sigemptyset(&asked);
  ::sigaddset(&asked, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &asked, nullptr);
  std::thread([] {
    for (;;) ::pause();
  }).detach();
  say_number(::getpid());
  int signo = 0;
  ::sigwait(&asked, &signo);
  ::pthread_exit(nullptr);
}

/// Uses vfork: the parent sleeps in state D until its child has executed a program or ended.
int be_stuck() {
  if (::syscall(SYS_clone, CLONE_VFORK | SIGCHLD, nullptr, nullptr, nullptr, nullptr) == 0) {
    for (;;) ::pause();
  }
  return 0;
}

std::string told_file;

int be_spawning(const char* file) {
  told_file = file;
  ::signal(SIGUSR1, [](int) { ::close(::creat(told_file.c_str(), 0644)); });
  if (::syscall(SYS_clone, CLONE_VFORK | SIGCHLD, nullptr, nullptr, nullptr, nullptr) == 0) {
    told_file += ".child";
    for (;;) ::pause();
  }
  for (;;) ::pause();
}

int neglect(char** command) {
  if (::fork() == 0) {
    ::execvp(command[0], command);
    ::_exit(127);
  }
  for (;;) ::pause();
}

int be_storm() {
  // A failed fork only means that the limit is reached.
  for (;;) static_cast<void>(::fork());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "pause") return be_pause();
  if (role == "find" && argc == 4) return find(argv[2], argv[3]);
  if (role == "survey" && argc == 4) return survey(argv[2], argv[3]);
  if (role == "headless") return be_headless();
  if (role == "stuck") return be_stuck();
  if (role == "spawning" && argc == 3) return be_spawning(argv[2]);
  if (role == "neglect" && argc > 2) return neglect(argv + 2);
  if (role == "storm") return be_storm();
  std::fputs("usage: see target_stage.cpp\n", stderr);
  return usage_status;
}
