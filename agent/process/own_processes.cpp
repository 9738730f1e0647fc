#include "process/own_processes.hpp"

#include <unistd.h>

#include <algorithm>

#include "process/proc_text.hpp"

namespace tenure::process {
namespace {

constexpr pid_t first = 1;

}  // namespace

/// An ancestor may end while we go up, and its children get a new parent; ancestors found before
/// stay known.
bool own_processes::refresh(const process_scan& processes) {
  self_ = ::getpid();
  session_ = ::getsid(0);
  group_ = ::getpgrp();
  std::array<pid_t, most_ancestors> found{};
  std::size_t used = 0;
  pid_t at = self_;
  for (;;) {
    const auto stat = processes.look_up(at);
    if (!stat) return false;
    if (stat->parent == 0) break;
    at = stat->parent;
    if (used == found.size()) return false;
    found[used++] = at;
  }
  ancestors_ = found;
  ancestors_used_ = used;
  // The parent of a container's first process is outside the namespace, so it shows as 0.
  container_root_ = at == first ? 0 : at;

  const auto ours = read_proc(self_, "cgroup", own_);
  const auto theirs = read_proc(first, "cgroup", first_);
  own_size_ = ours ? ours->size() : 0;
  if (!ours || !theirs || ours->size() == own_.size()) return false;
  cgroups_tell_ = container_of(*theirs, *ours).relation != cgroup_relation::same;
  return true;
}

kin own_processes::in_line(pid_t pid) const {
  if (pid == self_) return kin::ourselves;
  if (pid == first) return kin::first_process;
  const auto end = ancestors_.begin() + static_cast<std::ptrdiff_t>(ancestors_used_);
  return std::find(ancestors_.begin(), end, pid) != end ? kin::ancestor : kin::stranger;
}

kin own_processes::of(const process_stat& one, std::string_view cgroups,
                      const process_scan& processes) const {
  if (const kin known = in_line(one.pid); known != kin::stranger) return known;
  if (came_out_of(one, self_, processes)) return kin::descendant;
  const bool beside_us =
      cgroups_tell_ &&
      container_of(cgroups, own_processes::cgroups()).relation == cgroup_relation::same;
  if (beside_us || (container_root_ != 0 && came_out_of(one, container_root_, processes))) {
    return kin::same_container;
  }
  return kin::stranger;
}

bool own_processes::came_out_of(const process_stat& one, pid_t ancestor,
                                const process_scan& processes) const {
  pid_t at = one.parent;
  // A longer chain is one that changes while we follow it.
  constexpr int most_steps = 256;
  for (int step = 0; step < most_steps && at > first; ++step) {
    if (at == ancestor) return true;
    const auto parent = processes.look_up(at);
    if (!parent) return false;
    at = parent->parent;
  }
  return false;
}

}  // namespace tenure::process
