#include <algorithm>

#include "referee.hpp"

/// The part of the referee that watches what runs, and what the protected resource sees of it.
namespace tenure::sim {
namespace {

using namespace std::chrono_literals;

/// A machine that goes on gets to what was due meanwhile within this time.
constexpr core::duration wakes_within = 1ms;

/// Between two right ways to divide, once for every SIGKILL.
constexpr core::duration rounding = 10us;

/// As long as `d` may take on the slowest clock, and as short as on the fastest.
core::duration stretched(core::duration d) {
  return d + d / 200 + 1us;
}
core::duration shrunk(core::duration d) {
  return d - d / 200 - 1us;
}

}  // namespace

void referee::workload_began(world_time now, std::size_t pod, std::size_t election,
                             core::version version, core::duration kill_takes) {
  running_[pod][election] = {.alive = true, .version = version, .kill_takes = kill_takes};
  count_running(now, pod, election);
}

/// Called when a workload begins, and when one ends or gets another excuse: two that ran beside
/// each other after the excuse of one had run out are still there then.
void referee::count_running(world_time now, std::size_t pod, std::size_t election) {
  std::size_t count = 0;
  for (std::size_t other = 0; other < mix_.pods; ++other) {
    if (running_[other][election].alive && !excused(now, other, election)) ++count;
  }
  if (count > mix_.slots[election]) violated(rule::too_many_running, now, pod, election);
}

void referee::workload_ended(world_time now, std::size_t pod, std::size_t election) {
  if (now > dead_after_news(pod, election) && !oversleeps(now, pod, election)) {
    violated(rule::outlived_news, now, pod, election);
  }
  count_running(now, pod, election);
  running_[pod][election].alive = false;
  if (now > killed_by(pod, election) && !oversleeps(now, pod, election)) {
    violated(rule::outlived_lease, now, pod, election);
  }
}

void referee::ends(world_time now) {
  for (std::size_t e = 0; e < mix_.elections; ++e) count_running(now, 0, e);
}

/// An operator has taken its lease away, and its agent has heard of that: then it is dead as soon
/// as a kill can be, but for the time that the store itself waits. `world_never`: it has not heard.
world_time referee::dead_after_news(std::size_t pod, std::size_t election) const {
  const running& r = running_[pod][election];
  const removal* const gone = removed(pod, election, r.version);
  if (gone == nullptr || gone->news == world_never || r.given_again) return world_never;
  const core::duration grace =
      std::max(core::duration{}, mix_.store_lock_delay - mix_.when.kill_budget);
  return std::max(gone->news, gone->at + stretched(grace)) + mix_.socket_delay_most + r.kill_takes +
         rounding;
}

/// By then its guard has killed it, if the machine does not stand still.
world_time referee::killed_by(std::size_t pod, std::size_t election) const {
  return agents_[pod].clock.world(armed_[pod][election]) + running_[pod][election].kill_takes +
         rounding;
}

/// docs/safety.md: the whole machine is frozen and resumes after the lease went on. The excuse
/// ends when the guard has had its first instant, and one that woke before its deadline needs none.
bool referee::oversleeps(world_time now, std::size_t pod, std::size_t election) const {
  const running& r = running_[pod][election];
  const standstill& last = standstills_[pod];
  if (last.lasts) return true;
  if (last.ended == world_time::min()) return false;
  const removal* const gone = removed(pod, election, r.version);
  const bool overdue = agents_[pod].clock.local(last.ended) >= armed_[pod][election] ||
                       (gone != nullptr && gone->at <= last.ended);
  return overdue && now <= last.ended + r.kill_takes + wakes_within;
}

/// True for a workload that nobody could have ended in time: its pod stood still, or an operator
/// took its lease away and the news came later than lock_delay can cover.
bool referee::excused(world_time now, std::size_t pod, std::size_t election) const {
  if (oversleeps(now, pod, election)) return true;
  const running& r = running_[pod][election];
  if (r.given_again) return true;
  const removal* const gone = removed(pod, election, r.version);
  if (gone == nullptr) return false;
  // The next holder has waited for the store's delay and its own in any case.
  const core::duration delay = shrunk(mix_.store_lock_delay) + shrunk(mix_.when.lock_delay);
  if (gone->is_waited_for && now < gone->at + delay) return false;
  // It ends at its own deadline at the latest, and once it was told, as soon as a kill can.
  return now <= std::min(killed_by(pod, election), dead_after_news(pod, election));
}

void referee::froze(world_time now, std::size_t pod) {
  for (std::size_t e = 0; e < mix_.elections; ++e) {
    if (running_[pod][e].alive) count_running(now, pod, e);
  }
  standstills_[pod].lasts = true;
}

void referee::thawed(world_time now, std::size_t pod) {
  standstills_[pod] = {.lasts = false, .ended = now};
}

void referee::wrote(world_time now, std::size_t pod, std::size_t election, core::version version,
                    bool is_holder) {
  core::version& highest = highest_accepted_[election];
  if (version >= highest) {
    highest = version;
  } else if (is_holder && mix_.slots[election] == 1 && version > given_twice_[election]) {
    // From before a restore the resource has seen larger versions; then it is right to refuse.
    violated(rule::holder_fenced_out, now, pod, election);
  }
}

}  // namespace tenure::sim
