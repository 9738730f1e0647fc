#include "shell/guard/processes.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace tenure::shell {

using namespace std::chrono_literals;

modelled_process& modelled_processes::fork(pid_t parent) {
  const pid_t pid = ++last_;
  modelled_process& child = all_[pid];
  if (const modelled_process* const from = find(parent)) {
    child.group = from->group;
    child.mark = from->mark;
    child.version = from->version;
    child.ignores_term = from->ignores_term;
    child.foreign = from->foreign;
    child.known_to = from->known_to;
  }
  child.pid = pid;
  child.parent = parent;
  child.born = world_.now;
  return child;
}

modelled_process* modelled_processes::find(pid_t pid) {
  const auto found = all_.find(pid);
  return found == all_.end() ? nullptr : &found->second;
}

std::vector<modelled_process*> modelled_processes::children_of(pid_t parent) {
  std::vector<modelled_process*> out;
  for (auto& [pid, one] : all_) {
    if (one.parent == parent) out.push_back(&one);
  }
  return out;
}

std::vector<modelled_process*> modelled_processes::descendants_of(pid_t ancestor, pid_t except) {
  std::vector<modelled_process*> out;
  std::vector<pid_t> open{ancestor};
  while (!open.empty()) {
    const pid_t next = open.back();
    open.pop_back();
    for (modelled_process* const child : children_of(next)) {
      if (child->pid == except) continue;
      out.push_back(child);
      open.push_back(child->pid);
    }
  }
  return out;
}

void modelled_processes::signal(pid_t pid, int signo) {
  modelled_process* const one = find(pid);
  if (one == nullptr || one->zombie) return;
  if (signo == SIGCONT) one->stopped = false;
  if (signo == SIGKILL) {
    if (!std::exchange(one->killed, true) && !one->hangs) {
      dies_in(*one, world_.dice.spread(50us, killed_within), SIGKILL);
    }
    return;
  }
  if (signo != SIGTERM && signo != SIGINT && signo != SIGQUIT) return;
  if (one->of_agent && agent_told) return agent_told(pid, signo);
  if (one->ignores_term || one->hangs || one->stopped) return;
  dies_in(*one, world_.dice.spread(100us, stops_within), signo);
}

void modelled_processes::signal_group(pid_t group, int signo) {
  std::vector<pid_t> in;
  for (const auto& [pid, one] : all_) {
    if (one.group == group && !one.zombie) in.push_back(pid);
  }
  for (const pid_t pid : in) signal(pid, signo);
}

void modelled_processes::dies_in(modelled_process& one, core::duration wait, int status) {
  const world_time when = world_.now + wait;
  if (when >= one.dies_at) return;
  one.dies_at = when;
  world_.at(when, [this, pid = one.pid, when, status] {
    const modelled_process* const then = find(pid);
    if (then != nullptr && !then->zombie && !then->hangs && then->dies_at == when)
      ends(pid, status);
  });
}

bool modelled_processes::lives(std::uint64_t version) const {
  const auto is_its = [&](const auto& one) {
    return one.second.alive() && one.second.version == version;
  };
  return version == open_term || std::ranges::any_of(all_, is_its);
}

tenure::process::survivors modelled_processes::living(const std::vector<modelled_process*>& among) {
  tenure::process::survivors out;
  for (const modelled_process* const one : among) {
    if (one == nullptr || !one->alive()) continue;
    ++out.left;
    if (one->hangs) ++out.stuck;
    if (out.left == 1 || one->hangs) out.pid = one->pid;
    out.state = one->hangs ? 'D' : 'S';
  }
  return out;
}

void modelled_processes::close_term() {
  const std::uint64_t over = std::exchange(open_term, 0);
  if (over != 0 && workload_ended && !lives(over)) workload_ended(over);
}

void modelled_processes::ends(pid_t pid, int status) {
  modelled_process* const one = find(pid);
  if (one == nullptr || one->zombie) return;
  one->zombie = true;
  one->status = status;
  if (one->of_agent && agent_died) agent_died(pid);
  if (one->version != 0 && workload_ended && !lives(one->version)) workload_ended(one->version);
  if (one->foreign && foreign_died) foreign_died();
  const modelled_process* const above = find(subreaper);
  const bool is_below_guard = above != nullptr && above->alive() && pid != subreaper;
  const pid_t heir = is_below_guard && !one->foreign ? subreaper : init;
  for (modelled_process* const child : children_of(pid)) {
    child->parent = heir;
    if (child->dies_with_parent) signal(child->pid, SIGKILL);
    if (!child->zombie) continue;
    if (heir == init) {
      reap(child->pid);
    } else if (child_died) {
      child_died(heir);
    }
  }
  // Processes other than guards reap their children at once.
  const pid_t parent = one->parent;
  if (parent != subreaper || heir == init) return reap(pid);
  if (child_died) child_died(parent);
}

void modelled_processes::set_hanging(pid_t pid, bool hangs) {
  modelled_process* const one = find(pid);
  if (one == nullptr || one->zombie) return;
  if (one->hangs && !hangs) one->hung_until = world_.now;
  one->hangs = hangs;
  if (hangs) one->dies_at = sim::world_never;
  if (!hangs && one->killed) dies_in(*one, 1ms, SIGKILL);
}

}  // namespace tenure::shell
