#include "process/survivors.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <span>

#include "base/boot_time.hpp"
#include "base/unique_fd.hpp"
#include "process/pidfd.hpp"
#include "process/proc_text.hpp"

namespace tenure::process {
namespace {

constexpr char hangs = 'D';

/// Passes over all processes per call, limited so that the guard gets back to its deadlines.
constexpr int most_passes = 16;
/// The unit of a process's start in /proc, on every kernel.
constexpr int ticks_a_second = 100;

/// The thread that keeps the process from ending: one that hangs, or else the first.
process_stat decisive_thread(const process_stat& process) {
  process_scan threads;
  if (process.state == hangs || process.threads <= 1) return process;
  if (!threads.open_threads(process.pid)) return process;
  while (const auto thread = threads.next()) {
    if (thread->state == hangs) return *thread;
  }
  return process;
}

/// The single line of /proc/PID/`file`, without the line end.
template <std::size_t N>
std::array<char, N> line_of(pid_t pid, const char* file) {
  std::array<char, N> out{};
  const auto got = read_proc(pid, file, out);
  const std::size_t size = got ? std::min(got->find('\n'), got->size()) : 0;
  std::ranges::fill(std::span(out).subspan(size), '\0');
  return out;
}

bool came_out_of(const process_stat& one, pid_t ancestor, std::span<const pid_t> except,
                 const process_scan& processes) {
  // A longer chain is one that changes while we follow it.
  constexpr int most_steps = 256;
  pid_t at = one.pid;
  pid_t parent = one.parent;
  for (int step = 0; step < most_steps && std::ranges::find(except, at) == except.end(); ++step) {
    if (parent == ancestor) return true;
    if (parent <= 1) return false;
    const auto next = processes.look_up(parent);
    if (!next) return false;
    at = next->pid;
    parent = next->parent;
  }
  return false;
}

void kill_one(const process_stat& one, const process_scan& processes) {
  const base::unique_fd fd = open_pidfd(one.pid);
  const auto same = processes.look_up(one.pid);
  if (!same || same->start != one.start) return;
  if (fd) {
    static_cast<void>(send_signal(fd, SIGKILL));
  } else {
    // Without pidfds: this could hit another process only if all other ids had been used up since
    // the look-up above.
    ::kill(one.pid, SIGKILL);
  }
}

/// In the unit of /proc.
std::uint64_t ticks_since_boot() {
  using ticks = std::chrono::duration<std::int64_t, std::ratio<1, ticks_a_second>>;
  const auto now = base::boot_now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::floor<ticks>(now).count());
}

/// True if a descendant has started, or may have, since this call began.
bool kill_once(pid_t ancestor, std::span<const pid_t> except, process_scan& processes) {
  const std::uint64_t began = ticks_since_boot();
  bool fresh = false;
  processes.rewind();
  while (const auto one = processes.next()) {
    if (one->dead() || !came_out_of(*one, ancestor, except, processes)) continue;
    kill_one(*one, processes);
    fresh = fresh || one->start >= began;
  }
  return fresh;
}

}  // namespace

void survivors::count(const process_scan& processes, pid_t one) {
  const auto process = processes.look_up(one);
  if (!process || process->dead()) return;
  ++left;
  const process_stat thread = decisive_thread(*process);
  const bool is_stuck = thread.state == hangs;
  const bool is_first = is_stuck ? stuck == 0 : left == 1;
  if (is_stuck) ++stuck;
  if (!is_first) return;
  pid = one;
  state = thread.state;
  name = line_of<sizeof name>(one, "comm");
  where = line_of<sizeof where>(thread.pid, "wchan");
  // The kernel writes "0" for "nowhere" and for "not permitted".
  if (text(where) == "0") where = {};
}

survivors living_descendants(pid_t ancestor, std::span<const pid_t> except) {
  survivors out;
  process_scan processes;
  if (!processes.open()) return out;
  while (const auto one = processes.next()) {
    if (came_out_of(*one, ancestor, except, processes)) out.count(processes, one->pid);
  }
  return out;
}

void kill_descendants(pid_t ancestor, std::span<const pid_t> except) {
  process_scan processes;
  if (!processes.open()) return;
  // A process that got SIGKILL cannot fork, so in the end none is left to fork.
  for (int passes = 0; passes < most_passes; ++passes) {
    if (!kill_once(ancestor, except, processes)) return;
  }
}

}  // namespace tenure::process
