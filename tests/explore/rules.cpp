#include <algorithm>
#include <utility>

#include "small_world.hpp"

/// What must never be, as in the simulator (tests/sim/referee.hpp) and under the same names.
namespace tenure::explore {
namespace {

using core::loss_reason;

/// What docs/health.md promises.
constexpr core::duration longest_pause = std::chrono::minutes(5);

void forget(member& of, auto&& which) {
  of.removals.erase(std::remove_if(of.removals.begin(), of.removals.end(), which),
                    of.removals.end());
}

core::duration stop_after() {
  return budget().ttl - budget().kill_budget - budget().grace;
}

}  // namespace

void world::violated(rule what) {
  if (broken == rule::none) broken = what;
}

// --- the store ---------------------------------------------------------------------------------

void world::judge_grant(std::size_t m) {
  if (held <= last_granted) violated(rule::version_not_larger);
  last_granted = held;
  // After a restore the same version may be given out again: docs/safety.md, "a store restored from
  // a backup".
  member& it = all[m];
  if (removed(m, held) != nullptr) {
    forget(it, [&](const removal& r) { return r.version == held; });
    it.given_again = it.runs && it.guard.version() == held;
  }
  for (std::size_t other = 0; other < members; ++other) {
    if (other != m && claims(other) && !is_unaware(other)) violated(rule::too_many_claims);
  }
}

/// The store obeys, so a slot that is freed too early was given up too early, or was asked
/// for again while an old release was still under way.
void world::judge_release(std::size_t m, core::version version) {
  member& it = all[m];
  if (version <= given_twice) {
    for (member& each : all) {
      for (removal& r : each.removals) r.is_waited_for = false;
    }
  }
  bool in_use = it.runs && it.guard.version() == version;
  if (it.agent) {
    const core::election_view& view = election(m).view();
    const bool entered = view.phase == core::phase::pending || view.phase == core::phase::active;
    in_use = in_use || (entered && view.lease->version == version);
  }
  if (!in_use) return;
  if (version > given_twice) violated(rule::released_in_use);
  it.given_again = true;
  note_removal(m, version);
}

// --- what an agent hears -------------------------------------------------------------------------

/// A candidate is granted `version`. Not one that comes at its own stop_at or later, and not one
/// whose end the watch has shown before: nobody need believe these.
void world::began_term(std::size_t m, core::version version, core::time_point sent_at) {
  ledger& k = all[m].known;
  k.overtaken = k.shown_as_of >= version && k.shown_ours != version;
  if (now >= sent_at + stop_after() || k.overtaken) return;
  const core::version found = std::exchange(k.found, core::no_version);
  if (found != version) k.seen = std::max(k.seen, found);
  k.lost = false;
  k.version = version;
  k.must_stop_at = k.may_stop_at = core::time_point::min();
}

void world::acknowledged(std::size_t m, core::version version, core::time_point sent_at,
                         bool in_time) {
  ledger& k = all[m].known;
  if (k.version != version) return;
  const bool is_first = k.may_stop_at == core::time_point::min();
  // After stop_at nothing moves it any more.
  if (!is_first && now >= k.may_stop_at) return;
  const core::time_point stop_at = sent_at + stop_after();
  if (in_time && (is_first || now < k.must_stop_at)) {
    k.must_stop_at = std::max(k.must_stop_at, stop_at);
  }
  k.may_stop_at = std::max(k.may_stop_at, stop_at);
}

void world::told_lost(std::size_t m, core::version version, bool in_time) {
  ledger& k = all[m].known;
  if (k.version == version) {
    k.lost = true;
    k.releasing = false;
  }
  if (!in_time) return;
  for (removal& r : all[m].removals) {
    if (r.version == version) r.news = std::min(r.news, now);
  }
}

// --- what it does ----------------------------------------------------------------------------

void world::judge_campaign(std::size_t m) {
  const member& it = all[m];
  if (it.runs && !election(m).adopting()) violated(rule::campaign_over_previous);
  // A release that an agent before this one has sent may be of the very term that is granted now.
  const auto is_late = [&](const letter& l) {
    return l.what == mail::release && l.member == m && held == l.version && holder == m;
  };
  if (it.known.releasing || std::ranges::any_of(letters, is_late)) {
    violated(rule::campaign_over_release);
  }
  if ((it.known.asked & bit(loss_reason::shutdown)) != 0) violated(rule::campaign_in_shutdown);
  if (now < it.known.rests_until) violated(rule::campaign_too_soon);
}

void world::judge_arm(std::size_t m, const core::command::arm& c) {
  const member& it = all[m];
  if (it.runs && it.guard.version() != c.version) violated(rule::armed_for_another);
  if (it.promised_term == c.version && c.kill_at + budget().kill_budget > it.promised_until) {
    violated(rule::armed_beyond_promise);
  }
  if (now >= it.known.may_stop_at) violated(rule::armed_after_stop_at);
}

void world::judge_transition(std::size_t m, const core::command::transition& how) {
  ledger& k = all[m].known;
  using core::phase;
  const bool enters = how.to == phase::pending || how.to == phase::active;
  const bool regressed = k.version <= k.seen;
  note_pause(k, how);
  if (how.from == phase::candidate) {
    if (enters && k.overtaken) violated(rule::entered_lost_term);
    if (enters && regressed) violated(rule::version_went_back);
    if (!regressed) k.seen = k.version;
  }
  if (enters) {
    // A member that enters a term has dealt with earlier requests to give up.
    k.asked &= bit(loss_reason::shutdown);
    return;
  }
  if (how.to != phase::draining) {
    if (how.from == phase::draining) k.version = core::no_version;
    return;
  }
  bool caused = false;
  switch (how.why) {
    case loss_reason::renew_timeout:
    case loss_reason::suspended:
      caused = now >= k.must_stop_at && fits_sleep(k, how.why);
      break;
    case loss_reason::taken_over:
    case loss_reason::revoked:
    case loss_reason::session_invalid:
      caused = k.lost;
      break;
    case loss_reason::version_regressed:
      caused = regressed && how.from == phase::candidate;
      break;
    case loss_reason::ttl_too_short:
      caused = how.from == phase::candidate;
      break;
    default:
      caused = (k.asked & bit(how.why)) != 0;
      break;
  }
  if (!caused) violated(rule::stopped_without_cause);
}

/// Unhealthy terms in a row are followed by pauses of ttl, twice that, and so on.
void world::note_pause(ledger& of, const core::command::transition& how) const {
  using core::phase;
  if (how.to == phase::draining) {
    of.pause = core::duration::zero();
    if (how.why == loss_reason::unhealthy) {
      of.pause = std::min(longest_pause, std::max(budget().ttl, 2 * of.last_pause));
      of.last_pause = of.pause;
    }
  }
  if (how.from == phase::draining) of.rests_until = now + of.pause;
}

/// A lease that would have held without the sleep that the agent has just noticed ends for that;
/// where an answer need not be believed, either is right.
bool world::fits_sleep(const ledger& k, loss_reason why) const {
  const bool noticed = k.slept > core::duration::zero() && k.woke_at == now;
  const core::time_point awake = now - k.slept;
  if (why == loss_reason::suspended) return noticed && awake < k.may_stop_at;
  return !noticed || awake >= k.must_stop_at;
}

// --- what runs -------------------------------------------------------------------------------

void world::judge_begin(std::size_t m) {
  for (std::size_t other = 0; other < members; ++other) {
    if (other != m && all[other].runs && !is_excused(other)) violated(rule::too_many_running);
  }
}

void world::note_removal(std::size_t m, core::version version) {
  auto& of = all[m].removals;
  if (of.size() == of.capacity()) of.erase(of.begin());
  of.push_back({.version = version, .at = now});
}

/// Those of terms that it neither holds nor runs nor may yet be told to be its own.
void world::forget_removals(std::size_t m) {
  member& it = all[m];
  forget(it, [&](const removal& r) {
    const bool holds =
        it.agent && election(m).view().lease && election(m).view().lease->version == r.version;
    const bool runs = it.runs && it.guard.version() == r.version;
    const auto tells = [&](const letter& l) { return l.member == m && l.version == r.version; };
    return !holds && !runs && std::ranges::none_of(letters, tells);
  });
}

/// The newest removal of this term; null if no operator has touched it.
const removal* world::removed(std::size_t m, core::version version) const {
  const auto& of = all[m].removals;
  const auto newest = std::ranges::find(of.rbegin(), of.rend(), version, &removal::version);
  return newest == of.rend() ? nullptr : &*newest;
}

/// An operator has taken its term away, and it cannot know yet.
bool world::is_unaware(std::size_t m) const {
  const auto& lease = election(m).view().lease;
  const removal* const gone = lease ? removed(m, lease->version) : nullptr;
  return gone != nullptr && gone->news == core::never;
}

/// docs/safety.md: the whole machine is frozen and resumes after the lease went on; an operator
/// deletes the lock while the holder is cut off, for longer than lock_delay can cover; a store
/// restored from a backup.
bool world::is_excused(std::size_t m) const {
  const member& it = all[m];
  if (it.asleep || it.given_again) return true;
  // One that was overdue when its machine went on dies as soon as a kill can.
  const bool overdue = it.woke_up != core::time_point::min() && it.woke_up >= it.kill_at;
  if (overdue && now <= it.woke_up + budget().kill_budget) return true;
  const removal* const gone = removed(m, it.guard.version());
  if (gone == nullptr) return false;
  if (gone->is_waited_for && now < gone->at + budget().lock_delay) return false;
  return gone->news == core::never || now <= gone->news + budget().kill_budget;
}

bool world::claims(std::size_t m) const {
  return all[m].agent && !all[m].asleep && election(m).view().valid_at(now);
}

void world::judge_state() {
  std::size_t claiming = 0;
  std::size_t running = 0;
  for (std::size_t m = 0; m < members; ++m) {
    const member& it = all[m];
    if (it.runs && !is_excused(m)) ++running;
    if (!claims(m)) {
      if (sleeps_for_ever(m)) violated(rule::no_holder);
      continue;
    }
    if (!is_unaware(m)) ++claiming;
    if (now >= it.known.may_stop_at) violated(rule::claim_beyond_lease);
  }
  if (claiming > 1) violated(rule::too_many_claims);
  // Also when an excuse has run out since the second one began.
  if (running > 1) violated(rule::too_many_running);
}

/// A candidate that may campaign, has seen that the lease is free, and will
/// never ask: it has nothing under way, and does not wait for any instant.
bool world::sleeps_for_ever(std::size_t m) const {
  const member& it = all[m];
  if (!it.agent || it.unhealthy || held != core::no_version) return false;
  const core::election_view& view = election(m).view();
  if (view.phase != core::phase::candidate || !view.seen || view.paused) return false;
  if (!it.shown.empty() || !it.reports.empty() || it.watch != member::stream::open) return false;
  const auto is_mine = [&](const letter& l) { return l.member == m && !l.orphan; };
  if (std::ranges::any_of(letters, is_mine)) return false;
  return view.seen->holders.empty() && it.guard.current() == core::guard::state::empty &&
         it.agent->next_wake() == core::never;
}

}  // namespace tenure::explore
