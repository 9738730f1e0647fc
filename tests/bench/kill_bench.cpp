// How long what is to be dead goes on: from the order that ends a workload to the word that the
// last of its processes is gone, and behind a deadline that nobody moves any more. The agent is a
// scripted one, so that all of it is the guard's; two hops over a socket are part of each figure.
//   kill_bench [--rounds N]
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "figures.hpp"
#include "guard/stage.hpp"

namespace {

using namespace tenure::tests;
using namespace tenure::bench;

constexpr double single_goal_ms = 5;
constexpr double tree_goal_ms = 20;
constexpr double budget_goal_ms = 500;  // kill_budget of the default ttl
constexpr int tree_size = 100;
constexpr long deadline_in_ms = 50;

/// A workload of so many processes that ignore SIGTERM. It reports by a file.
std::vector<std::string> workload_of(int processes) {
  return stage::shell("trap '' TERM; i=1; while [ $i -lt " + std::to_string(processes) +
                      " ]; do sleep 1000 & i=$((i+1)); done; touch $DIR/up; "
                      "while :; do sleep 1000; done");
}

/// Two processes more than there are processors, each of which never sleeps.
class busy_machine {
 public:
  busy_machine() {
    const long count = ::sysconf(_SC_NPROCESSORS_ONLN) + 2;
    for (long i = 0; i < count; ++i) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        for (volatile unsigned spins = 0;; spins = spins + 1) {
        }
      }
      if (pid > 0) spinning_.push_back(pid);
    }
  }
  ~busy_machine() {
    for (const pid_t pid : spinning_) ::kill(pid, SIGKILL);
  }
  busy_machine(const busy_machine&) = delete;
  busy_machine& operator=(const busy_machine&) = delete;

 private:
  std::vector<pid_t> spinning_;
};

/// Starts a workload, gives the order, and waits until its end is known. Milliseconds from `due_in`
/// after the order.
double measure(int processes, const std::string& order, long due_in_ms) {
  stage s(workload_of(processes));
  auto agent = s.agent();
  agent.start(7, s.mark());
  if (!eventually([&] { return s.has("up"); })) std::abort();
  const std::int64_t due = boot_nanoseconds() + due_in_ms * 1'000'000;
  agent.tell(order);
  const std::string said = agent.hear();
  const std::int64_t over = boot_nanoseconds();
  if (said != "exited " + std::to_string(SIGKILL) || !s.marked().empty()) {
    std::fprintf(stderr, "kill_bench: %s, and %zu processes are left\n", said.c_str(),
                 s.marked().size());
    std::exit(1);
  }
  return static_cast<double>(over - due) / 1e6;
}

std::vector<double> repeated(int rounds, int processes, const std::string& order, long due_in_ms) {
  std::vector<double> out;
  for (int i = 0; i < rounds; ++i) out.push_back(measure(processes, order, due_in_ms));
  return out;
}

void report(const char* what, const std::vector<double>& values, double goal_ms) {
  print_row(what, values, "ms");
  const double worst = *std::ranges::max_element(values);
  std::printf("    worst %.2f ms, goal under %.0f ms: %s\n", worst, goal_ms,
              verdict(worst < goal_ms));
}

/// The goals are of the order, on a machine that has time; of a deadline, `budget_goal_ms`.
void measure_all(const char* machine, int rounds, double single_ms, double tree_ms) {
  std::printf("%s\n", machine);
  const std::string now = "stop 15 0";
  const std::string at_deadline = "arm 7 " + std::to_string(deadline_in_ms);
  report("  ordered, one process", repeated(rounds, 1, now, 0), single_ms);
  report("  ordered, 100 processes", repeated(rounds, tree_size, now, 0), tree_ms);
  report("  behind its deadline, one process", repeated(rounds, 1, at_deadline, deadline_in_ms),
         budget_goal_ms);
  report("  behind its deadline, 100 processes",
         repeated(rounds, tree_size, at_deadline, deadline_in_ms), budget_goal_ms);
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 20;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
  }
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  measure_all("from the order, or the deadline, to the death of the last process", rounds,
              single_goal_ms, tree_goal_ms);
  const busy_machine busy;
  measure_all("the same with all processors taken by others", rounds, budget_goal_ms,
              budget_goal_ms);
}
