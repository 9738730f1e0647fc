#include "small_world.hpp"

#include <algorithm>
#include <utility>

/// What may happen, and what time does.
namespace tenure::explore {
namespace {

using namespace std::chrono_literals;

/// With all its terms some ticks long, and clocks that go alike: other rates are for the simulator.
core::timing small_budget() {
  return core::resolve({.ttl = 5 * tick,
                        .renew = tick,
                        .grace = tick,
                        .kill_budget = tick,
                        .lock_delay = 2 * tick,
                        .drain = 2 * tick,
                        .drift_ppm = 0})
      .value();
}

/// By which a restored backup moves versions back: to the same number for the next grant as for the
/// last, and to smaller ones.
constexpr std::array<std::uint64_t, 2> versions_lost{2, 4};

}  // namespace

const core::timing& budget() {
  static const core::timing it = small_budget();
  return it;
}

world::world() {
  for (std::size_t m = 0; m < members; ++m) come_up(m);
}

void world::moves(std::vector<move>& out) const {
  const auto add = [&](act what, std::size_t m, std::size_t letter = 0) {
    out.push_back({.what = what,
                   .member = static_cast<std::uint8_t>(m),
                   .letter = static_cast<std::uint8_t>(letter)});
  };
  const bool may_fail = faults_left > 0;
  const auto add_fault = [&](act what, std::size_t m, std::size_t letter = 0) {
    if (may_fail && (kinds & bit(what)) != 0) add(what, m, letter);
  };
  if (ticks_left > 0 && may_pass()) add(act::pass, 0);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const letter& l = letters[i];
    const bool heard = may_arrive(l);
    if (heard) add(act::carry, l.member, i);
    if (l.stalled) continue;
    add_fault(act::stall, l.member, i);
    if (heard && !l.orphan) add_fault(act::fail, l.member, i);
  }
  for (std::size_t m = 0; m < members; ++m) {
    const member& it = all[m];
    if (it.runs && it.told && !it.asleep) add(act::end, m);
    if (it.runs && !it.told && !it.asleep) add_fault(act::exit, m);
    if (it.ended) continue;
    if (!it.agent) {
      add(act::start, m);
      continue;
    }
    if (it.frozen) {
      add(act::go_on, m);
      continue;
    }
    if (it.agent->next_wake() <= now) add(act::wake, m);
    if (!it.reports.empty()) add(act::hear, m);
    if (it.has_news()) add(act::see, m);
    if (may_open_watch(it)) add(act::open, m);
    if (it.unhealthy) add(act::recover, m);
    add_fault(act::crash, m);
    add_fault(act::freeze, m);
    add_fault(act::sleep, m);
    if (it.watch == member::stream::open && !it.lags) add_fault(act::lag, m);
    if (it.watch == member::stream::open) add_fault(act::cut, m);
    add_fault(act::resign, m);
    add_fault(act::shut_down, m);
    if (!it.unhealthy) add_fault(act::sicken, m);
  }
  if (held != core::no_version && now >= ends_at) add(act::expire, holder);
  for (std::uint8_t m = 0; m < members; ++m) {
    const bool waits = all[m].place != core::no_version;
    if (waits && now >= all[m].place_ends_at) add(act::wither, m);
    if (!waits && held != core::no_version && holder != m) add_fault(act::queue, m);
  }
  if (held != core::no_version) add_fault(act::remove, holder);
  for (const std::uint64_t lost : versions_lost) add_fault(act::restore, 0, lost);
}

void world::apply(const move& m) {
  if (m.is_fault()) --faults_left;
  member& it = all[m.member];
  switch (m.what) {
    case act::pass:
      pass();
      break;
    case act::carry:
    case act::fail: {
      const letter l = letters[m.letter];
      letters.erase(letters.begin() + m.letter);
      if (m.what == act::carry) carry(l);
      if (m.what == act::fail) fail(l);
      break;
    }
    case act::stall:
      letters[m.letter].stalled = true;
      break;
    case act::wake: {
      core::group_effects out;
      it.agent->wake(moment(), out);
      if (it.agent->next_wake() <= now) violated(rule::busy_loop);
      carry_out(m.member, out);
      break;
    }
    case act::hear: {
      const report heard = it.reports.front();
      it.reports.erase(it.reports.begin());
      if (heard.started) {
        step(m.member, core::event::workload_started{heard.version});
      } else {
        it.known.asked |= bit(core::loss_reason::workload_exited);
        step(m.member, core::event::workload_exited{});
      }
      break;
    }
    case act::see:
      see(m.member);
      break;
    case act::open:
      open_watch(m.member);
      break;
    case act::start:
      come_up(m.member);
      break;
    case act::end:
    case act::exit:
      died(m.member);
      break;
    case act::expire:
      take_away(false);
      break;
    case act::wither:
      it.place = core::no_version;
      break;
    case act::queue:
      stand_in_line(m.member);
      break;
    case act::crash:
      end_agent(m.member);
      break;
    case act::freeze:
      it.frozen = true;
      break;
    case act::go_on:
      go_on(m.member);
      break;
    case act::sleep:
      it.frozen = it.asleep = true;
      it.fell_asleep = now;
      break;
    case act::lag:
      it.lags = true;
      break;
    case act::cut:
      it.watch = member::stream::broken;
      break;
    case act::remove:
      take_away(true);
      break;
    case act::restore:
      restored(m.letter);
      break;
    case act::resign:
      it.known.asked |= bit(core::loss_reason::resigned);
      step(m.member, core::event::resign{.aside = 2 * tick, .heir = {}});
      break;
    case act::shut_down:
      it.known.asked |= bit(core::loss_reason::shutdown);
      step(m.member, core::event::shutdown{});
      break;
    case act::sicken:
      it.unhealthy = true;
      it.known.asked |= bit(core::loss_reason::unhealthy);
      step(m.member, core::event::workload_unhealthy{});
      break;
    case act::recover:
      it.unhealthy = false;
      step(m.member, core::event::workload_healthy{});
      break;
  }
  forget_what_is_over();
  judge_state();
}

/// Answers that nobody waits for any more, and releases of what is not held: whenever they arrive,
/// nothing comes of them. And removals that excuse nobody any more.
void world::forget_what_is_over() {
  const auto is_dead = [&](const letter& l) {
    const member& it = all[l.member];
    switch (l.what) {
      case mail::release:
        return l.orphan && (held != l.version || holder != l.member);
      case mail::ask_own:
        return l.orphan || l.number != it.release;
      case mail::refused:
        return l.number != it.acquire && !election(l.member).adopting();
      case mail::renewed:
        return l.number != it.renewal;
      case mail::own:
      case mail::released:
        return l.number != it.release;
      default:
        return false;
    }
  };
  letters.erase(std::remove_if(letters.begin(), letters.end(), is_dead), letters.end());
  for (std::size_t m = 0; m < members; ++m) forget_removals(m);
}

// --- time ------------------------------------------------------------------------------------

/// Not if it is an answer to an agent that is stopped.
bool world::may_arrive(const letter& l) const {
  return !l.is_answer() || !all[l.member].frozen;
}

bool world::may_open_watch(const member& it) const {
  return it.watch == member::stream::wanted && now >= it.watch_at;
}

/// True if all that is due has happened, or is late because of a fault.
bool world::may_pass() const {
  const auto is_due = [&](const letter& l) { return !l.stalled && may_arrive(l); };
  if (std::ranges::any_of(letters, is_due)) return false;
  return std::ranges::none_of(all, [&](const member& it) {
    if (!it.agent || it.frozen) return false;
    const bool watches = !it.lags && (it.has_news() || may_open_watch(it));
    return it.agent->next_wake() <= now || !it.reports.empty() || watches;
  });
}

/// Guards are in time, and a workload dies within kill_budget of its first SIGKILL. That is all
/// that has to happen before the next tick.
void world::pass() {
  --ticks_left;
  const core::time_point next = now + tick;
  for (std::size_t m = 0; m < members; ++m) {
    if (!all[m].asleep) be_in_time(m, next);
  }
  now = next;
}

void world::be_in_time(std::size_t m, core::time_point next) {
  member& it = all[m];
  while (it.guard.next_wake() <= next) {
    const core::time_point at = std::max(it.guard.next_wake(), now);
    const core::guard_actions todo = it.guard.woke(at);
    const bool early = (todo.kill && at < it.kill_at) || (todo.terminate && at < it.stop_at);
    if (!it.told && early) violated(rule::killed_without_cause);
    guard_does(m, todo, at);
    if (it.runs && it.survives == 0 && it.dead_by <= next) died(m);
  }
  const core::time_point last = std::max(std::min(it.kill_at, it.kill_by), it.woke_up);
  if (it.runs && next > last + budget().kill_budget) violated(rule::outlived_lease);
}

/// Its guard is in time from now on; its agent hears of the sleep before anything else.
void world::go_on(std::size_t m) {
  member& it = all[m];
  it.frozen = false;
  if (!std::exchange(it.asleep, false)) return;
  it.woke_up = now;
  it.known.woke_at = now;
  it.known.slept = now - it.fell_asleep;
  be_in_time(m, now);
  step(m, core::event::slept{.lasted = it.known.slept});
}

// --- a guard -----------------------------------------------------------------------------------

void world::guard_does(std::size_t m, const core::guard_actions& todo, core::time_point at) {
  member& it = all[m];
  if (todo.kill && it.runs) {
    it.dead_by = std::min(it.dead_by, at + budget().kill_budget);
    if (it.survives > 0) --it.survives;
  }
  if (todo.terminate) it.told = true;
  if (todo.refused) report_to(m, {.started = false, .version = it.page_term});
  if (!todo.start) return;
  it.runs = true;
  it.told = false;
  it.survives = 2;  // something was forked just before the first
  it.dead_by = core::never;
  it.kill_by = core::never;
  it.woke_up = core::time_point::min();
  it.given_again = false;
  report_to(m, {.started = true, .version = it.page_term});
  judge_begin(m);
}

void world::died(std::size_t m) {
  member& it = all[m];
  it.runs = false;
  it.kill_by = core::never;
  it.guard.emptied();
  report_to(m, {.started = false, .version = it.page_term});
}

/// A guard whose agent has ended tells the next one itself what there is.
void world::report_to(std::size_t m, const report& what) {
  if (all[m].agent) all[m].reports.push_back(what);
}

}  // namespace tenure::explore
