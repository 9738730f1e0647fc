// What `tenure exec` on SQLite costs and how fast it hands over, measured from outside: /proc, and
// the stamps of workloads that do not know Tenure.
//   exec_bench [--idle-seconds N] [--rounds N]
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "contestants.hpp"
#include "figures.hpp"
#include "harness.hpp"

namespace {

using namespace tenure::tests;
using namespace tenure::bench;

/// Time that all threads of a process have spent on a processor.
double cpu_seconds(pid_t pid) {
  double total = 0;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    std::ifstream in(task.path() / "schedstat");
    double ns = 0;
    in >> ns;
    total += ns / 1e9;
  }
  return total;
}

void measure_idle(int seconds) {
  const temporary_directory in;
  member holder(in, {.identity = "a", .ttl = "15s"});
  if (!runs_as(in, "a")) std::abort();
  member standby(in, {.identity = "b", .ttl = "15s"});
  eventually([&] { return standby.process().said("holder=a"); });
  ::sleep(2);
  const struct {
    const char* name;
    pid_t pid;
  } processes[] = {{"agent, holding", *holder.agent()},
                   {"agent, standby", *standby.agent()},
                   {"guard, holding", holder.process().pid()}};
  std::vector<double> before;
  for (const auto& p : processes) before.push_back(cpu_seconds(p.pid));
  ::sleep(static_cast<unsigned>(seconds));
  for (std::size_t i = 0; i < std::size(processes); ++i) {
    const pid_t pid = processes[i].pid;
    const double share = (cpu_seconds(pid) - before[i]) / seconds * 100;
    std::printf("%-16s rss %6ld kB  private %6ld kB  cpu %.4f %% of a core over %d s\n",
                processes[i].name, kilobytes(pid, "status", "VmRSS:"),
                kilobytes(pid, "smaps_rollup", "Private_Clean:") +
                    kilobytes(pid, "smaps_rollup", "Private_Dirty:"),
                share, seconds);
  }
}

/// Two members take turns: SIGTERM to the holder, which is then started again.
void measure_hand_over(int rounds) {
  const temporary_directory in;
  std::vector<std::unique_ptr<member>> members;
  const std::vector<std::string> names{"a", "b"};
  for (const auto& n : names) {
    members.push_back(std::make_unique<member>(in, member::options{.identity = n, .ttl = "15s"}));
    if (n == "a" && !runs_as(in, "a")) std::abort();
  }
  std::vector<double> from_signal;
  std::vector<double> from_death;
  std::uint64_t version = stamped_runs(in).back().version;
  for (int round = 0; round < rounds; ++round) {
    const auto runs = stamped_runs(in);
    const auto holder = static_cast<std::size_t>(runs.back().identity == "a" ? 0 : 1);
    eventually([&] {
      return members[1 - holder]->process().said("holder=" + names[holder]) &&
             members[holder]->is_active();
    });
    ::usleep(200'000);
    const std::int64_t asked = boot_nanoseconds();
    members[holder]->process().send(SIGTERM);
    std::this_thread::sleep_for(before_looking);
    const auto next = runs_as(in, names[1 - holder], version);
    if (!next) std::abort();
    const auto now = stamped_runs(in);
    from_signal.push_back(static_cast<double>(next->first - asked) / 1e6);
    from_death.push_back(static_cast<double>(next->first - now[now.size() - 2].last) / 1e6);
    version = next->version;
    members[holder]->process().wait();
    members[holder] =
        std::make_unique<member>(in, member::options{.identity = names[holder], .ttl = "15s"});
  }
  print_row("hand-over: SIGTERM sent -> next workload's first instruction", from_signal, "ms");
  print_row("hand-over: last stamp of the old -> first of the next", from_death, "ms");
}

void measure_container(int rounds) {
  const auto pods = two_pods("sqlite", "", 15);
  print_row("fail-over: the main container is killed, its agent lives, ttl 15 s",
            container_deaths(*pods, rounds), "ms");
}

void measure_failover(int rounds) {
  std::vector<double> gaps;
  for (int round = 0; round < rounds; ++round) {
    const temporary_directory in;
    member a(in, {.identity = "a", .ttl = "2s"});
    if (!runs_as(in, "a")) std::abort();
    member b(in, {.identity = "b", .ttl = "2s"});
    eventually([&] { return b.process().said("holder=a"); });
    a.pull_the_plug();
    const auto next = runs_as(in, "b", 1);
    if (!next) std::abort();
    gaps.push_back(static_cast<double>(next->first - stamped_runs(in).front().last) / 1e9);
  }
  print_row("fail-over: everything of the holder killed, ttl 2 s", gaps, "s ");
}

}  // namespace

int main(int argc, char** argv) {
  int idle_seconds = 60;
  int rounds = 40;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--idle-seconds") == 0) idle_seconds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
  }
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  measure_hand_over(rounds);
  measure_container(rounds / 2);
  print_row(killed_run, killed_runs("sqlite", "", rounds / 2), "ms");
  measure_failover(5);
  measure_idle(idle_seconds);
}
