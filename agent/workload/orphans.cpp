#include "workload/orphans.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "workload/child_list.hpp"
#include "workload/process_scan.hpp"

namespace tenure::workload {

orphans::orphans() : guard_(::getppid()) {}

void orphans::follow(pid_t leader) {
  leader_ = leader;
  leader_fd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, leader, 0)));
}

void orphans::forget() {
  leader_ = 0;
  leader_fd_.reset();
}

bool orphans::kill_all() {
  const bool no_children = guard_exists() && kill_children_of_guard();
  // A guard that ended meanwhile has no children any more, and its workload may run on. It loses
  // all of them in one step, and us with them: if it is still our parent now, it had them then.
  if (guard_exists()) return no_children;
  return leader_ == 0 || kill_group();
}

bool orphans::guard_exists() const {
  return ::getppid() == guard_;
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
  return nobody && children.complete();
}

/// A group's number is nobody else's while somebody is in the group. If the leader is dead and
/// yet a process has its number, the group had ended, and the number was given away. Asked in this
/// order: a leader that is found and dies afterwards is no stranger.
bool orphans::kill_group() {
  process_scan processes;
  if (!processes.open()) return false;
  if (!leader_lives()) {
    const auto holder = processes.look_up(leader_);
    if (holder && !holder->dead()) return true;
  }
  bool nobody = true;
  while (const auto process = processes.next()) {
    if (process->group != leader_ || process->session != ::getsid(0) || process->dead()) continue;
    nobody = false;
    ::kill(-leader_, SIGKILL);
  }
  return nobody && processes.complete();
}

bool orphans::leader_lives() const {
  if (!leader_fd_) return false;
  pollfd one{.fd = leader_fd_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 0;
}

}  // namespace tenure::workload
