#include "shell/guard/found_workload.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "shell/guard/modelled_guard.hpp"

namespace tenure::shell {
namespace {

/// A look at /proc may fail for single processes, as long as descriptors or memory are short.
constexpr std::uint32_t incomplete_ppm = 20'000;
constexpr std::uint32_t half = 500'000;

}  // namespace

// --- processes -------------------------------------------------------------------------------

guard::tally modelled_finder::look() {
  found_.clear();
  guard::tally out;
  out.complete = on_.quiet || !on_.in.dice.chance(incomplete_ppm);
  for (auto& [pid, one] : on_.processes.all()) {
    if (!one.foreign || !one.alive()) continue;
    if (!out.complete && on_.in.dice.chance(half)) {
      one.missed_at = on_.in.now;
      continue;
    }
    found_.push_back(pid);
    ++out.left;
    if (one.parent == modelled_processes::init) ++out.matching;
    if (one.hangs) ++out.stuck;
  }
  if (out.left > 0) on_.referee.awaits_first_process = false;
  return out;
}

guard::tally modelled_finder::signal_all(int signo) {
  const guard::tally out = look();
  if (term != 0 && signo != SIGCONT && out.left > 0) told(term, signo);
  for (const pid_t pid : found_) on_.processes.signal(pid, signo);
  return out;
}

/// Nobody tells the command line of a process that hangs in the kernel.
guard::tally modelled_finder::signal_matches(int signo, guard::if_undecided then) {
  guard::tally out = look();
  const auto is_main = [&](pid_t pid) {
    return on_.processes.find(pid)->parent == modelled_processes::init;
  };
  out.undecided = static_cast<std::size_t>(std::ranges::count_if(
      found_, [&](pid_t pid) { return is_main(pid) && on_.processes.find(pid)->hangs; }));
  if (out.undecided > 0 && then == guard::if_undecided::wait) return out;
  for (const pid_t pid : found_) {
    if (!is_main(pid) || on_.processes.find(pid)->hangs) continue;
    on_.processes.signal(pid, signo);
    ++out.told;
  }
  return out;
}

guard::tally modelled_finder::kill_all() {
  return signal_all(SIGKILL);
}

bool modelled_finder::has_deaths() const {
  return std::ranges::any_of(found_, [&](pid_t pid) {
    const modelled_process* const one = on_.processes.find(pid);
    return one == nullptr || !one->alive();
  });
}

tenure::process::survivors modelled_finder::living() const {
  std::vector<modelled_process*> found;
  for (const pid_t pid : found_) found.push_back(on_.processes.find(pid));
  return modelled_processes::living(found);
}

// --- the workload ----------------------------------------------------------------------------

found_workload::found_workload(guard_machine& on, const guard::guard_page& page,
                               const guard::foreign_rules& rules, guard::guard_log& log)
    : on_(on), page_(page), finder_(on), workload_(finder_, rules, log, on.now()) {}

guard::workload_news found_workload::start(core::time_point now, std::string_view environment) {
  finder_.term = on_.processes.open_term = page_.version.load();
  on_.referee.starts(finder_.term, decided_at);
  on_.referee.awaits_first_process = true;
  for (auto& [pid, one] : on_.processes.all()) {
    if (!one.foreign || !one.alive()) continue;
    one.version = finder_.term;
    one.known_to = on_.guards;
  }
  const guard::workload_news out = workload_.start(now, environment);
  if (out.failed) not_told();
  return out;
}

guard::workload_news found_workload::look(core::time_point now, state is) {
  const guard::workload_news out = workload_.look(now, is);
  if (out.failed) not_told();
  if (out.ended) end_term();
  return out;
}

/// It goes on as a standby.
void found_workload::not_told() {
  for (auto& [pid, one] : on_.processes.all()) {
    if (one.foreign && one.version == finder_.term) one.version = 0;
  }
  end_term();
}

void found_workload::end_term() {
  on_.referee.found_term_over();
  finder_.term = 0;
  on_.processes.close_term();
}

}  // namespace tenure::shell
