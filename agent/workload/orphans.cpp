#include "workload/orphans.hpp"

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>

#include "workload/child_list.hpp"
#include "workload/pidfd.hpp"
#include "workload/process_scan.hpp"
#include "workload/survivors.hpp"

namespace tenure::workload {
namespace {

/// False as soon as every thread of it has ended.
bool lives(const os::unique_fd& process) {
  if (!process) return false;
  pollfd one{.fd = process.get(), .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 0;
}

/// As it was when the process began to execute its program.
bool has_in_environment(pid_t pid, const std::string& entry) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  for (std::string one; std::getline(file, one, '\0');) {
    if (one == entry) return true;
  }
  return false;
}

}  // namespace

orphans::orphans(pid_t guard) : guard_(guard) {
  if (guard == 0 || !proc_is_ours()) return;
  session_ = ::getsid(guard);
  guard_fd_ = open_pidfd(guard);
}

bool orphans::find_by(const target& what) {
  foreign_ = std::make_unique<foreign_processes>();
  return foreign_->prepare(what) == 0;
}

void orphans::follow(pid_t leader) {
  leader_ = leader;
  if (in_sight()) leader_fd_ = open_pidfd(leader);
}

void orphans::forget() {
  leader_ = 0;
  leader_fd_.reset();
}

bool orphans::kill_all() {
  if (foreign_) {
    foreign_->kill_all();
    return foreign_->empty();
  }
  const bool no_children = guard_exists() && kill_children_of_guard();
  // A guard that ended meanwhile has no children any more, and its workload may run on. It loses
  // them in the step in which its own descriptor tells of its end: if it lives now, it had them
  // then.
  if (guard_exists()) return no_children;
  const bool no_group = leader_ == 0 || kill_group();
  return kill_marked() && no_group;
}

bool orphans::guard_exists() const {
  return lives(guard_fd_);
}

bool orphans::kill_children_of_guard() {
  process_scan processes;
  child_list children;
  if (!processes.open() || !children.open(guard_)) return false;
  bool nobody = true;
  while (const auto child = children.next()) {
    if (*child == ::getpid()) continue;
    const auto stat = processes.look_up(*child);
    // A guard that is frozen does not reap.
    if (!stat || stat->dead()) continue;
    nobody = false;
    ::kill(stat->group == *child ? -stat->group : *child, SIGKILL);
  }
  if (!nobody) kill_descendants(guard_, ::getpid());
  return nobody && children.complete();
}

/// A group's number is nobody else's while somebody is in the group. If the leader is dead and
/// yet a process has its number, the group had ended, and the number was given away. Asked in this
/// order: a leader that is found and dies afterwards is no stranger.
bool orphans::kill_group() {
  process_scan processes;
  if (!processes.open()) return false;
  if (!lives(leader_fd_)) {
    const auto holder = processes.look_up(leader_);
    if (holder && !holder->dead()) return true;
  }
  bool nobody = true;
  while (const auto process = processes.next()) {
    if (process->group != leader_ || process->session != session_ || process->dead()) continue;
    nobody = false;
    ::kill(-leader_, SIGKILL);
  }
  return nobody && processes.complete();
}

/// Daemons with sessions of their own. What may not be looked into is another user's.
bool orphans::kill_marked() {
  process_scan processes;
  if (mark_.empty()) return true;
  if (!processes.open()) return false;
  bool nobody = true;
  while (const auto process = processes.next()) {
    if (process->dead() || process->pid == ::getpid()) continue;
    const os::unique_fd same = open_pidfd(process->pid);
    if (!same || !has_in_environment(process->pid, mark_)) continue;
    nobody = false;
    static_cast<void>(send_signal(same, SIGKILL));
  }
  return nobody && processes.complete();
}

}  // namespace tenure::workload
