#include "guard/foreign_processes.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "process/pidfd.hpp"
#include "process/proc_text.hpp"

namespace tenure::guard {
namespace {

int last_spare_descriptor() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  constexpr rlim_t enough = 1 << 20;
  return static_cast<int>(std::min(limit.rlim_cur, enough)) - spare_descriptors;
}

}  // namespace

int foreign_processes::prepare(settings::target what) {
  if (!processes_.open() || !own_.refresh(processes_)) return ENOENT;
  deaths_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!deaths_) return errno;
  last_descriptor_ = last_spare_descriptor();
  recognizer_.prepare(std::move(what));
  now_.prepare(most_members);
  before_.prepare(most_members);
  return 0;
}

tally foreign_processes::look() {
  begin_look();
  // The last pass must find nothing new: a process that was forked behind our back shows up in it,
  // also when ids have wrapped around.
  bool fresh = true;
  for (int passes = 0; passes < most_passes && (fresh || passes < 2); ++passes) {
    unreadable_ = undecided_ = 0;
    fresh = pass();
    complete_ = processes_.complete() && complete_;
  }
  complete_ = complete_ && !fresh && !overflow_ && unreadable_ == 0;
  end_look();
  return count(0);
}

tally foreign_processes::look_beside(pid_t found) {
  found_elsewhere_ = found;
  const tally out = look();
  found_elsewhere_ = 0;
  return out;
}

void foreign_processes::begin_look() {
  std::swap(now_, before_);
  now_.clear();
  overflow_ = false;
  for (container& one : containers_) one.used = false;
  recognizer_.refresh();
  complete_ = own_.refresh(processes_) && recognizer_.file() != pid_file_state::unreadable &&
              recognizer_.file() != pid_file_state::malformed;
}

/// True if a new process was found.
bool foreign_processes::pass() {
  bool fresh = false;
  processes_.rewind();
  while (const auto one = processes_.next()) fresh = consider(*one) || fresh;
  return fresh;
}

bool foreign_processes::consider(const process::process_stat& one) {
  if (one.dead() || own_.in_line(one.pid) != process::kin::stranger) return false;
  if (process::member* const known = now_.find(one.pid)) {
    if (known->start == one.start) {
      known->state = one.state;
      return false;
    }
    known->state = 'X';
  }
  const auto at = where(one);
  if (!at || at->verdict.relation == process::cgroup_relation::same) return false;
  process::member* earlier = before_.find(one.pid);
  if (earlier != nullptr && earlier->start != one.start) earlier = nullptr;

  // A process that belongs for another reason is not compared with the target: it may have changed
  // its command line, and reading that may wait for it.
  auto why = earlier != nullptr ? std::optional(earlier->why) : bond_of(one, *at);
  const bool is_found = one.pid == found_elsewhere_ && recognizer_.may_be_meant(one);
  const recognition is_it = is_found ? recognition::yes
                            : why    ? recognition::no
                                     : recognizer_.of(one);
  if (is_it == recognition::yes) why = process::bond::match;
  const bool matches = earlier != nullptr ? earlier->matches : is_it == recognition::yes;
  if (!why && is_it == recognition::no) return false;
  if (own_.of(one, at->cgroups, processes_) != process::kin::stranger) return false;
  if (!why) {
    ++unreadable_;
    if (one.state == 'D') ++undecided_;
    return false;
  }
  if (container* const in = container_with(*at)) {
    in->used = true;
  } else if (matches) {
    learn(*at);
  }
  take(one, *why, matches, earlier);
  return true;
}

/// Nothing if the process is gone or cannot be read. If cgroups tell nothing, every process is
/// `unclear`.
std::optional<foreign_processes::place> foreign_processes::where(const process::process_stat& one) {
  if (!own_.cgroups_tell()) return place{};
  const auto cgroups = process::read_proc(process::living_thread(one), "cgroup", room_);
  if (cgroups && cgroups->size() < room_.size()) {
    return place{.cgroups = *cgroups, .verdict = process::container_of(*cgroups, own_.cgroups())};
  }
  if (cgroups || !process::is_gone(cgroups.error())) ++unreadable_;
  return std::nullopt;
}

/// Why the process belongs, apart from the target.
std::optional<process::bond> foreign_processes::bond_of(const process::process_stat& one,
                                                        const place& at) {
  if (container_with(at) != nullptr) return process::bond::container;
  const process::member* const parent = now_.find(one.parent);
  if (parent != nullptr && !parent->gone()) return process::bond::descendant;
  const bool in_a_container = at.verdict.relation == process::cgroup_relation::separate;
  if (!in_a_container && shares_session(one)) return process::bond::session;
  return std::nullopt;
}

foreign_processes::container* foreign_processes::container_with(const place& at) {
  if (at.verdict.relation != process::cgroup_relation::separate) return nullptr;
  const auto holds = [&at](const container& one) {
    return one.size > 0 && process::is_in_container(at.cgroups, one.text());
  };
  const auto found = std::ranges::find_if(containers_, holds);
  return found == containers_.end() ? nullptr : &*found;
}

/// Container runtimes and daemons have sessions of their own. Session 0 began outside our PID
/// namespace, session 1 is that of process 1.
///
/// Members that the previous look saw in the session count, too, dead or not: a workload that keeps
/// forking and exiting never has two processes alive at the same time.
bool foreign_processes::shares_session(const process::process_stat& one) const {
  const bool session_tells = one.session > 1 && one.session != own_.session();
  const bool group_tells = one.group > 1 && one.group != own_.group();
  if (!session_tells && !group_tells) return false;
  const auto beside = [&](const process::member& other) {
    return session_tells ? one.session == other.session : one.group == other.group;
  };
  const auto now = [&](const process::member& other) { return !other.gone() && beside(other); };
  if (std::ranges::any_of(now_.all(), now)) return true;
  const auto earlier = std::ranges::find_if(before_.all(), beside);
  if (earlier == before_.all().end()) return false;
  // Once a session is empty its id can be reused, but the leader of the new one is younger than all
  // of ours.
  const auto leader = processes_.look_up(session_tells ? one.session : one.group);
  return !leader || leader->start <= earlier->start;
}

void foreign_processes::learn(const place& at) {
  if (at.verdict.relation != process::cgroup_relation::separate) return;
  const std::string_view name = at.verdict.container;
  const auto free = std::ranges::find(containers_, 0U, &container::size);
  if (free == containers_.end() || name.size() > free->name.size()) {
    overflow_ = true;
    return;
  }
  std::ranges::copy(name, free->name.begin());
  free->size = name.size();
  free->used = true;
}

void foreign_processes::take(const process::process_stat& one, process::bond why, bool matches,
                             process::member* earlier) {
  process::member taken{.pid = one.pid,
                        .start = one.start,
                        .parent = one.parent,
                        .group = one.group,
                        .session = one.session,
                        .state = one.state,
                        .why = why,
                        .matches = matches};
  if (earlier != nullptr) taken.fd = std::move(earlier->fd);
  if (killing_) static_cast<void>(send(taken, SIGSTOP));
  const bool room = now_.find(one.pid) != nullptr || now_.all().size() < most_members;
  if (room) {
    now_.put(std::move(taken));
    return;
  }
  overflow_ = true;
  // It is not remembered, so kill it now.
  if (killing_) static_cast<void>(send(taken, SIGKILL));
}

void foreign_processes::end_look() {
  if (complete_) {
    for (container& one : containers_) {
      if (!one.used) one.size = 0;
    }
  } else {
    keep_the_unseen();
  }
  before_.clear();
  watch_deaths();
}

/// Members that an incomplete look did not find may still exist.
void foreign_processes::keep_the_unseen() {
  for (process::member& one : before_.all()) {
    if (now_.find(one.pid) == nullptr && !has_ended(one)) now_.put(std::move(one));
  }
}

/// True only if it is certain. Needs no pidfd: descriptors may have run out.
bool foreign_processes::has_ended(const process::member& one) const {
  if (one.gone() || (::kill(one.pid, 0) != 0 && errno == ESRCH)) return true;
  const auto stat = processes_.look_up(one.pid);
  return stat && (stat->start != one.start || stat->dead());
}

void foreign_processes::watch_deaths() {
  std::size_t watched = static_cast<std::size_t>(
      std::ranges::count_if(now_.all(), [](const process::member& one) { return bool(one.fd); }));
  for (process::member& one : now_.all()) {
    if (watched == most_pidfds) return;
    if (one.fd || one.gone()) continue;
    base::unique_fd fd = process::open_pidfd(one.pid);
    if (!fd || fd.get() > last_descriptor_ || !is_still(one)) continue;
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd.get()}};
    if (::epoll_ctl(deaths_.get(), EPOLL_CTL_ADD, fd.get(), &event) != 0) continue;
    one.fd = std::move(fd);
    ++watched;
  }
}

/// True if the id has not been given to another process.
bool foreign_processes::is_still(const process::member& one) const {
  const auto stat = processes_.look_up(one.pid);
  return stat && stat->start == one.start;
}

/// Returns 0 or an errno value; ESRCH if it is gone.
int foreign_processes::send(const process::member& one, int signo) const {
  if (one.fd) return process::send_signal(one.fd, signo);
  if (one.gone()) return ESRCH;
  const base::unique_fd fd = process::open_pidfd(one.pid);
  const int error = fd ? 0 : errno;
  if (process::is_gone(error) || !is_still(one)) return ESRCH;
  if (fd) return process::send_signal(fd, signo);
  // No pidfd: an old kernel, or no free descriptor. This could hit another process only if, since
  // the line above, this one ended and all other ids were used up.
  return ::kill(one.pid, signo) == 0 ? 0 : errno;
}

tally foreign_processes::signal_all(int signo) {
  look();
  std::size_t denied = 0;
  for (const process::member& one : now_.all()) {
    const int error = send(one, signo);
    if (error != 0 && !process::is_gone(error)) ++denied;
  }
  return count(denied);
}

tally foreign_processes::signal_matches(int signo, if_undecided then) {
  look();
  // A process that belongs for another reason may have executed the program meanwhile.
  std::size_t in_doubt = undecided_;
  for (process::member& one : now_.all()) {
    if (one.matches || one.gone()) continue;
    const process::process_stat stat{.pid = one.pid, .state = one.state, .start = one.start};
    one.matches = recognizer_.of(stat) == recognition::yes;
    if (is_undecided(stat)) ++in_doubt;
  }
  tally out = count(0);
  std::size_t topmost = 0;
  for (const process::member& one : now_.all()) {
    if (!is_topmost(one)) continue;
    ++topmost;
    if (may_be_behind_another(one)) ++out.undecided;
  }
  // If one was found, others in state D make no difference.
  if (topmost == 0) out.undecided = in_doubt;
  if (out.undecided > 0 && then == if_undecided::wait) return out;
  for (const process::member& one : now_.all()) {
    if (!is_topmost(one) || (out.undecided > 0 && may_be_behind_another(one))) continue;
    const int error = send(one, signo);
    if (error == 0) ++out.told;
    if (error != 0 && !process::is_gone(error)) ++out.denied;
  }
  return out;
}

/// True if the target names it, and not its parent.
bool foreign_processes::is_topmost(const process::member& one) {
  const process::member* const parent = now_.find(one.parent);
  return one.matches && !one.gone() && (parent == nullptr || !parent->matches);
}

/// True if the target may name its parent after all, which is not known to match.
bool foreign_processes::may_be_behind_another(const process::member& one) {
  const auto parent = processes_.look_up(one.parent);
  return parent && own_.in_line(parent->pid) == process::kin::stranger &&
         (is_undecided(*parent) || recognizer_.of(*parent) == recognition::yes);
}

/// True if nobody can tell now whether the target names it.
bool foreign_processes::is_undecided(const process::process_stat& one) {
  return one.state == 'D' && recognizer_.of(one) == recognition::unreadable;
}

tally foreign_processes::kill_all() {
  killing_ = true;
  const tally found = signal_all(SIGKILL);
  killing_ = false;
  return found;
}

bool foreign_processes::has_deaths() const {
  pollfd one{.fd = deaths_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) > 0;
}

pid_t foreign_processes::first() const {
  return now_.all().empty() ? 0 : now_.all().front().pid;
}

process::survivors foreign_processes::living() const {
  process::survivors out;
  process::process_scan processes;
  if (!processes.open()) return out;
  for (const process::member& one : now_.all()) {
    if (!one.gone()) out.count(processes, one.pid);
  }
  return out;
}

tally foreign_processes::count(std::size_t denied) const {
  tally out{.denied = denied, .unreadable = unreadable_, .complete = complete_};
  for (const process::member& one : now_.all()) {
    if (one.gone()) continue;
    ++out.left;
    if (one.matches) ++out.matching;
    if (one.state == 'D') ++out.stuck;
  }
  return out;
}

}  // namespace tenure::guard
