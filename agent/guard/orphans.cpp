#include "guard/orphans.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <expected>
#include <fstream>
#include <string>
#include <utility>

#include "process/cgroup_text.hpp"
#include "process/child_list.hpp"
#include "process/pidfd.hpp"
#include "process/proc_text.hpp"

namespace tenure::guard {
namespace {

enum class mark : std::uint8_t {
  seen,
  missing,
  hidden,  ///< unknown: also if descriptors or memory have run out, or it has just ended
};

/// Searches the environment that the process had when it executed its program, for an entry that is
/// `wanted`, or that begins with it.
mark look_for(const std::string& wanted, bool is_beginning, pid_t pid) {
  // On its way out a process has none: then it is empty, or cannot be opened (ESRCH, newer
  // kernels).
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  if (!file) return mark::hidden;
  bool is_empty = true;
  for (std::string one; std::getline(file, one, '\0'); is_empty = false) {
    if (one == wanted || (is_beginning && one.starts_with(wanted))) return mark::seen;
  }
  return is_empty || file.bad() ? mark::hidden : mark::missing;
}

}  // namespace

std::expected<std::string, int> cgroups_of(pid_t pid) {
  std::array<char, 4096> room;
  const auto text = process::read_proc(pid, "cgroup", room);
  if (!text) return std::unexpected(text.error());
  return std::string(*text);
}

orphans::orphans(pid_t guard) : guard_(guard) {
  if (guard == 0 || !process::proc_is_ours()) return;
  session_ = ::getsid(guard);
  guard_fd_ = process::open_pidfd(guard);
  cgroups_ = cgroups_of(guard).value_or("");
  process::process_scan processes;
  if (!processes.open()) return;
  if (const auto stat = processes.look_up(guard)) began_ = stat->start;
}

orphans::orphans(dead_guard of)
    : guard_(0),
      mark_(std::move(of.mark)),
      of_any_term_(true),
      cgroups_(std::move(of.cgroups)),
      began_(of.start) {}

bool orphans::find_by(const settings::target& what) {
  foreign_ = std::make_unique<foreign_processes>(reader_that_waits());
  return foreign_->prepare(what) == 0;
}

/// A process that the guard started is its child. If `leader` is not a child, or no longer one,
/// nothing is killed by its id: the rest of that workload is found by its mark.
void orphans::follow(pid_t leader) {
  forget();
  if (foreign_) {
    foreign_->look_beside(leader);
    return;
  }
  process::process_scan processes;
  if (!in_sight() || !processes.open()) return;
  base::unique_fd named = process::open_pidfd(leader);
  const auto stat = processes.look_up(leader);
  if (!named || !stat || stat->parent != guard_ || !guard_exists()) return;
  leader_ = leader;
  leader_fd_ = std::move(named);
  began_ = stat->start;
}

/// What others started is remembered as it is before it hears of its term: it may execute another
/// program then, and the guard may fail before it has said what it has found.
void orphans::expect_mark(std::string mark) {
  mark_ = std::move(mark);
  if (foreign_) foreign_->look();
}

void orphans::forget() {
  doubted_.reset();
  killed_.clear();
  leader_ = 0;
  leader_fd_.reset();
}

remains orphans::kill_all() {
  const auto left = [](bool nobody) { return nobody ? remains::nothing : remains::something; };
  if (foreign_) {
    foreign_->kill_all();
    return left(foreign_->empty());
  }
  const bool no_children = guard_exists() && kill_children_of_guard();
  // A guard that ended meanwhile has lost its children, and its workload may run on. It loses them
  // at the moment its pidfd reports its end: if it still lives now, it had them during the look.
  if (guard_exists()) return left(no_children);
  const bool no_group = leader_ == 0 || kill_group();
  hidden_.clear();
  if (kill_marked() && no_group) return judge_hidden();
  doubted_.reset();
  return remains::something;
}

/// Once no certain process is left, processes that appear later are unrelated. A process that is
/// just executing a program shows no environment, but will in the next look.
remains orphans::judge_hidden() {
  if (!doubted_) {
    doubted_ = hidden_;
  } else {
    std::erase_if(*doubted_, [this](const process_id& one) {
      return std::ranges::find(hidden_, one) == hidden_.end();
    });
  }
  return doubted_->empty() ? remains::nothing : remains::doubtful;
}

process::survivors orphans::doubtful() const {
  process::survivors out;
  process::process_scan processes;
  if (!doubted_ || !processes.open()) return out;
  for (const process_id& one : *doubted_) out.count(processes, one.pid);
  return out;
}

bool orphans::guard_exists() const {
  return process::is_alive(guard_fd_);
}

bool orphans::kill_children_of_guard() {
  process::process_scan processes;
  process::child_list children;
  if (!processes.open() || !children.open(guard_)) return false;
  bool nobody = true;
  while (const auto child = children.next()) {
    if (*child == ::getpid()) continue;
    int error = 0;
    const auto stat = processes.look_up(*child, error);
    // A frozen guard does not reap.
    if (stat ? stat->dead() : process::is_gone(error)) continue;
    nobody = false;
    if (!stat) continue;
    ::kill(stat->group == *child ? -stat->group : *child, SIGKILL);
  }
  const pid_t self = ::getpid();
  if (!nobody) process::kill_descendants(guard_, {&self, 1});
  return nobody && children.complete();
}

/// A group's id is not reused while a process is in the group. If the leader is dead and yet a
/// process has its id, the group had ended and the id was reused. The order of the checks matters:
/// a leader that is alive in the first check and dies afterwards is not taken for another process.
bool orphans::kill_group() {
  process::process_scan processes;
  if (!processes.open()) return false;
  if (!process::is_alive(leader_fd_)) {
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

/// Kills processes by their mark, e.g. daemons with sessions of their own. One that was killed
/// shows no mark any more before it is dead.
bool orphans::kill_marked() {
  process::process_scan processes;
  if (mark_.empty()) return true;
  if (!processes.open()) return false;
  bool nobody = true;
  while (const auto process = processes.next()) {
    if (process->dead() || process->pid == ::getpid()) continue;
    const base::unique_fd same = process::open_pidfd(process->pid);
    if (!same && process::is_gone(errno)) continue;
    const process_id id{.pid = process->pid, .start = process->start};
    const bool was_killed = std::ranges::find(killed_, id) != killed_.end();
    const mark found =
        was_killed ? mark::seen : look_for(mark_, of_any_term_, process::living_thread(*process));
    if (found == mark::hidden && may_be_of_it(*process)) hidden_.push_back(id);
    if (found != mark::seen) continue;
    nobody = false;
    // Without a pidfd its id may have been reused. The next look finds it again.
    if (same && process::send_signal(same, SIGKILL) == 0 && !was_killed) killed_.push_back(id);
  }
  return nobody && processes.complete();
}

/// What was listed may have gone its way out since. It shows no cgroup then that tells anything: on
/// version 1 the root, wherever it was.
bool orphans::may_be_of_it(const process::process_stat& one) const {
  if (one.of_the_kernel || one.start < began_) return false;
  const pid_t thread = process::living_thread(one);
  const auto theirs = cgroups_of(thread);
  process::process_scan processes;
  int error = processes.open() ? 0 : EMFILE;
  const auto now = error == 0 ? processes.look_up(thread, error) : std::nullopt;
  if (!now) return !process::is_gone(error);
  if (now->dead()) return false;
  return now->exiting || !theirs || process::is_within(*theirs, cgroups_);
}

}  // namespace tenure::guard
