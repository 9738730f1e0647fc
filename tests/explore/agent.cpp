#include <algorithm>
#include <utility>
#include <variant>

#include "small_world.hpp"

/// What runs around core in an agent: a client of the store, and a link to the guard.
namespace tenure::explore {

void world::come_up(std::size_t m) {
  member& it = all[m];
  it.agent.emplace(budget());
  it.agent->add({.identity = m == 0 ? "a" : "b", .when = budget()});
  it.known = {};
  const core::version last = it.session_was_used ? it.granted : core::no_version;
  if (it.guard.current() != core::guard::state::empty) {
    const bool stopping = it.guard.current() != core::guard::state::running;
    it.known.version = it.known.found = it.guard.version();
    it.known.must_stop_at = it.known.may_stop_at = it.stop_at;
    if (stopping) it.known.seen = it.guard.version();
    step(m, core::event::workload_found{.version = it.guard.version(),
                                        .stop_at = it.stop_at,
                                        .kill_at = it.kill_at,
                                        .stopping = stopping});
    if (last > it.guard.version()) it.known.seen = std::max(it.known.seen, last);
  } else {
    it.known.seen = last;
  }
  step(m, core::event::started{.session_was_used = it.session_was_used, .last_term = last});
  it.session_was_used = true;
}

/// What it has sent outlives it; answers do not.
void world::end_agent(std::size_t m) {
  member& it = all[m];
  it.agent.reset();
  it.watch = member::stream::closed;
  it.shown.clear();
  it.reports.clear();
  it.unhealthy = it.lags = it.frozen = false;
  it.acquire = it.release = it.renewal = {};
  const auto is_answer = [&](const letter& l) { return l.member == m && l.is_answer(); };
  letters.erase(std::remove_if(letters.begin(), letters.end(), is_answer), letters.end());
  for (letter& l : letters) l.orphan = l.orphan || l.member == m;
}

void world::step(std::size_t m, const core::election_event& what) {
  core::group_effects out;
  all[m].agent->step(moment(), core::election_index{0}, what, out);
  carry_out(m, out);
}

void world::carry_out(std::size_t m, const core::group_effects& out) {
  for (const core::addressed& c : out.commands) {
    std::visit([&](const auto& what) { carry_out(m, what); }, c.what);
  }
  if (out.renew && !all[m].ended) renew(m, *out.renew);
  if (all[m].ended) end_agent(m);
}

// --- what it hears -------------------------------------------------------------------------------

void world::carry(const letter& l) {
  if (!l.is_answer()) {
    receive(l);
    return;
  }
  const std::size_t m = l.member;
  member& it = all[m];
  switch (l.what) {
    case mail::granted:
      granted(m, l);
      break;
    case mail::refused:
      if (election(m).adopting()) told_lost(m, it.guard.version(), true);
      step(m, core::event::refused{.number = l.number});
      break;
    case mail::renewed:
      renewed(m, l);
      break;
    case mail::own:
      if (l.number != it.release || now >= it.release_by || !std::exchange(it.asks_own, false)) {
        break;
      }
      if (l.version != core::no_version) {
        send(m, mail::release, l.number, l.version, it.release_clean);
        break;
      }
      [[fallthrough]];
    case mail::released:
      if (l.number == it.release) it.known.releasing = false;
      step(m, core::event::released{l.number});
      break;
    default:
      break;
  }
}

void world::fail(const letter& l) {
  const std::size_t m = l.member;
  switch (l.what) {
    case mail::acquire:
    case mail::granted:
    case mail::refused:
      step(m, core::event::acquire_unknown{l.number});
      break;
    case mail::renew:
    case mail::renewed: {
      if (l.number == all[m].renewal) all[m].renewal = {};
      core::group_effects out;
      all[m].agent->renewal_unknown(moment(), l.number, out);
      carry_out(m, out);
      break;
    }
    default:
      step(m, core::event::release_unknown{l.number});
      break;
  }
}

void world::granted(std::size_t m, const letter& l) {
  member& it = all[m];
  it.granted = std::max(it.granted, l.version);
  const bool adopting = election(m).adopting();
  const bool in_time = l.number == it.acquire && now < it.acquire_by &&
                       election(m).view().phase == core::phase::candidate &&
                       !(adopting && it.stop_at <= now);
  if (in_time) {
    began_term(m, l.version, l.sent_at);
    acknowledged(m, l.version, l.sent_at, true);
    if (adopting && l.version != it.guard.version()) told_lost(m, l.version, true);
  }
  step(m, core::event::granted{.number = l.number,
                               .version = l.version,
                               .sequencer = {},
                               .ttl = budget().ttl,
                               .sent_at = l.sent_at,
                               .released_cleanly = l.clean});
}

void world::renewed(std::size_t m, const letter& l) {
  member& it = all[m];
  const bool awaited = l.number == it.renewal;
  const bool in_time = awaited && now < it.renewal_by;
  if (awaited) it.renewal = {};
  std::vector<core::renewal_loss> lost;
  if (l.lost != core::loss_reason::none) {
    lost.push_back({.which = core::election_index{0}, .why = l.lost});
    if (awaited) told_lost(m, l.version, in_time);
  } else if (awaited) {
    acknowledged(m, l.version, l.sent_at, in_time);
  }
  core::group_effects out;
  it.agent->renewed(moment(), l.number, {.sent_at = l.sent_at, .ttl = budget().ttl, .lost = lost},
                    out);
  carry_out(m, out);
}

void world::see(std::size_t m) {
  member& it = all[m];
  if (it.shown.empty()) {
    it.watch = member::stream::closed;
    step(m, core::event::watch_failed{});
    return;
  }
  const snapshot s = it.shown.front();
  it.shown.erase(it.shown.begin());
  core::observation seen;
  seen.as_of = s.as_of;
  seen.agreed.slots = 1;
  const bool ours = s.version != core::no_version && s.holder == m;
  if (s.version != core::no_version) {
    seen.holders.push_back(
        {.identity = s.holder == 0 ? "a" : "b", .version = s.version, .ours = ours});
    if (!ours) it.known.seen = std::max(it.known.seen, s.version);
  }
  it.known.shown_as_of = s.as_of;
  it.known.shown_ours = ours ? s.version : core::no_version;
  const core::election& one = election(m);
  const core::version version = one.adopting()     ? it.guard.version()
                                : one.view().lease ? one.view().lease->version
                                                   : core::no_version;
  if (version != core::no_version && s.as_of >= version && !(ours && s.version == version)) {
    told_lost(m, version, true);
  }
  step(m, core::event::observed{std::move(seen)});
}

// --- what it does ----------------------------------------------------------------------------

void world::send(std::size_t m, mail what, core::attempt number, core::version version,
                 bool clean) {
  post({.what = what,
        .member = static_cast<std::uint8_t>(m),
        .clean = clean,
        .number = number,
        .version = version,
        .sent_at = now});
}

/// What has been under way for longest is lost where there is too much.
void world::post(const letter& l) {
  if (letters.size() == letters.capacity()) letters.erase(letters.begin());
  letters.push_back(l);
}

void world::carry_out(std::size_t m, const core::command::acquire& c) {
  judge_campaign(m);
  all[m].acquire = c.number;
  all[m].acquire_by = c.deadline;
  send(m, mail::acquire, c.number, core::no_version);
}

void world::carry_out(std::size_t m, const core::command::release& c) {
  member& it = all[m];
  if (it.runs) violated(rule::released_while_running);
  it.known.releasing = true;
  it.release = c.number;
  it.release_by = c.deadline;
  it.release_clean = c.clean;
  it.asks_own = c.version == core::no_version;
  // A late release without a version would end a newer grant.
  send(m, it.asks_own ? mail::ask_own : mail::release, c.number, c.version, c.clean);
}

void world::carry_out(std::size_t m, const core::command::watch& c) {
  all[m].watch = member::stream::wanted;
  all[m].watch_at = c.not_before;
  all[m].shown.clear();
}

void world::carry_out(std::size_t m, const core::command::arm& c) {
  member& it = all[m];
  judge_arm(m, c);
  it.page_term = c.version;
  it.stop_at = c.stop_at;
  it.kill_at = c.kill_at;
  guard_does(m, it.guard.armed(now, c.stop_at, c.kill_at), now);
}

void world::carry_out(std::size_t m, const core::command::start_workload&) {
  member& it = all[m];
  if (it.runs) violated(rule::started_over_previous);
  if (now >= it.known.may_stop_at) violated(rule::started_late);
  guard_does(m, it.guard.start_asked(now, it.page_term), now);
}

void world::carry_out(std::size_t m, const core::command::stop_workload& c) {
  member& it = all[m];
  if (!it.runs) return;
  it.told = true;
  it.kill_by = std::min(it.kill_by, std::max(c.kill_by, now));
  guard_does(m, it.guard.stop_asked(now, c.kill_by), now);
}

void world::carry_out(std::size_t m, const core::command::transition& c) {
  judge_transition(m, c);
}

void world::carry_out(std::size_t m, const core::command::finished&) {
  all[m].ended = true;
}

void world::renew(std::size_t m, const core::command::renew& c) {
  all[m].renewal = c.number;
  all[m].renewal_by = c.deadline;
  send(m, mail::renew, c.number, all[m].agent->renewing().front().version);
}

}  // namespace tenure::explore
