#include <algorithm>

#include "bit.hpp"
#include "referee.hpp"

/// The part of the referee that watches what agents do.
namespace tenure::sim {
namespace {

using namespace std::chrono_literals;
using core::loss_reason;

/// Steps of one agent within one second. Core may try again after a millisecond at the least.
constexpr std::uint32_t most_steps_per_second = 3000;

/// Between two right ways to divide.
constexpr core::duration rounding = 1us;

/// What docs/health.md promises: no pause after an unhealthy term is longer, and after a term that
/// lasted for so long they begin anew.
constexpr core::duration longest_pause = 5min;
constexpr core::duration well_after = 5min;

}  // namespace

void referee::stepped(world_time now, std::size_t pod) {
  agent_record& agent = agents_[pod];
  if (now - agent.window >= 1s) {
    agent.window = now;
    agent.steps = 0;
  }
  if (++agent.steps > most_steps_per_second * mix_.elections) {
    violated(rule::busy_loop, now, pod, 0);
  }
}

void referee::campaigns(world_time now, std::size_t pod, std::size_t election, bool may_run) {
  if (may_run) violated(rule::campaign_over_previous, now, pod, election);
  // Carried out late, it could take away what is granted now.
  if (agents_[pod].of[election].releasing) {
    violated(rule::campaign_over_release, now, pod, election);
  }
  if ((agents_[pod].of[election].asked & bit(loss_reason::shutdown)) != 0) {
    violated(rule::campaign_in_shutdown, now, pod, election);
  }
  const agent_record& agent = agents_[pod];
  if (agent.clock.local(now) < agent.of[election].rests_until) {
    violated(rule::campaign_too_soon, now, pod, election);
  }
}

void referee::releases(world_time now, std::size_t pod, std::size_t election, bool may_run) {
  if (may_run) violated(rule::released_while_running, now, pod, election);
  agents_[pod].of[election].releasing = true;
}

void referee::arms(world_time now, std::size_t pod, std::size_t election, core::version version,
                   core::time_point kill_at) {
  const agent_record& agent = agents_[pod];
  const running& r = running_[pod][election];
  if (r.alive && r.version != version) violated(rule::armed_for_another, now, pod, election);
  armed_[pod][election] = kill_at;
  const auto& made = promises_[pod][election].all;
  const auto known = std::ranges::find(made, version, &promise::version);
  const world_time until = known == made.end() ? world_time::min() : known->until;
  const world_time dead_by = agent.clock.world(kill_at) + agent.clock.takes(mix_.when.kill_budget);
  // A store that renews sessions without a look at their keys confirms a term whose key an
  // operator has deleted; until the watch tells, its agent cannot know.
  const bool misled = mix_.family == store_family::expiring && !mix_.renewal_checks_terms &&
                      unaware(pod, election, version);
  if (dead_by > until && !misled) violated(rule::armed_beyond_promise, now, pod, election);
  if (agent.clock.local(now) >= agent.of[election].may_stop_at) {
    violated(rule::armed_after_stop_at, now, pod, election);
  }
}

void referee::starts(world_time now, std::size_t pod, std::size_t election, bool may_run) {
  const agent_record& agent = agents_[pod];
  if (may_run) violated(rule::started_over_previous, now, pod, election);
  if (agent.clock.local(now) >= agent.of[election].may_stop_at) {
    violated(rule::started_late, now, pod, election);
  }
}

void referee::resumed(std::size_t pod, std::size_t election) {
  ledger& l = agents_[pod].of[election];
  l.pause = core::duration::zero();
  l.rests_until = core::time_point::min();
}

/// Unhealthy terms in a row are followed by pauses of ttl, twice that, and so on.
void referee::note_pause(core::time_point now, ledger& of,
                         const core::command::transition& how) const {
  using core::phase;
  if (how.to == phase::active) of.active_since = now;
  if (how.to == phase::draining) {
    const bool was_active = how.from == phase::active;
    if (was_active && now - of.active_since >= well_after) of.last_pause = core::duration::zero();
    of.pause = core::duration::zero();
    if (how.why != loss_reason::unhealthy) return;
    const core::duration doubled = std::max(mix_.when.ttl, 2 * of.last_pause);
    of.pause = of.last_pause = std::min(doubled, std::max(mix_.when.ttl, longest_pause));
  }
  if (how.from == phase::draining) of.rests_until = now + of.pause;
}

/// A lease that would have held without the sleep that the agent has just noticed ends for that;
/// where an answer need not be believed, either is right.
bool referee::fits_sleep(world_time now, const agent_record& agent, const ledger& of,
                         loss_reason why) {
  const core::time_point awake = agent.clock.local(now) - agent.slept.lasted;
  const bool noticed = agent.slept.seen == now;
  if (why == loss_reason::suspended) return noticed && awake < of.may_stop_at + rounding;
  return !noticed || awake + rounding >= of.must_stop_at;
}

/// A holder makes way for a member that is ready and has a higher priority, and not soon after its
/// own grant.
bool referee::may_make_way(world_time now, const agent_record& agent, std::size_t election) const {
  const auto which = core::election_index{static_cast<std::uint32_t>(election)};
  const core::election& one = agent.machine->at(which);
  const std::optional<core::member>& next = one.view().next;
  const core::succession_settings& own = one.settings().succeeds;
  constexpr int hold_down_ttls = 4;
  return own.preempt && mix_.slots[election] == 1 && next && next->says &&
         next->says->since_unix_ms != 0 && next->says->priority > own.priority &&
         agent.clock.local(now) >= agent.of[election].active_since + hold_down_ttls * mix_.when.ttl;
}

void referee::changes(world_time now, std::size_t pod, std::size_t election,
                      const core::command::transition& how) {
  const agent_record& agent = agents_[pod];
  ledger& l = agents_[pod].of[election];
  const bool enters = how.to == core::phase::pending || how.to == core::phase::active;
  const bool regressed = l.regressed();
  note_pause(agent.clock.local(now), l, how);
  if (how.from == core::phase::candidate) {
    if (enters && l.overtaken) violated(rule::entered_lost_term, now, pod, election);
    if (enters && regressed) violated(rule::version_went_back, now, pod, election);
    // Also if it was granted and given up at once.
    if (!regressed) l.seen = l.version;
  }
  if (enters) {
    // A member that enters a term has dealt with earlier requests to give up.
    l.asked &= bit(loss_reason::shutdown);
    if (how.to == core::phase::active && !unaware(pod, election, l.version) &&
        count_claims(now, election, pod) >= mix_.slots[election]) {
      violated(rule::too_many_claims, now, pod, election);
    }
    return;
  }
  if (how.to != core::phase::draining) {
    // The term is over; after a restored backup the next may have the same number.
    if (how.from == core::phase::draining) l.version = core::no_version;
    return;
  }
  bool caused = false;
  switch (how.why) {
    case loss_reason::renew_timeout:
    case loss_reason::suspended:
      caused =
          agent.clock.local(now) + rounding >= l.must_stop_at && fits_sleep(now, agent, l, how.why);
      break;
    case loss_reason::taken_over:
    case loss_reason::revoked:
    case loss_reason::session_invalid:
      caused = l.lost;
      break;
    case loss_reason::version_regressed:
      caused = regressed && how.from == core::phase::candidate;
      break;
    case loss_reason::ttl_too_short:
      caused = how.from == core::phase::candidate;
      break;
    case loss_reason::preempted:
      caused = may_make_way(now, agent, election);
      made_way_[election] = now;
      break;
    case loss_reason::unhealthy:
    case loss_reason::resigned:
    case loss_reason::shutdown:
    case loss_reason::workload_exited:
    case loss_reason::guard_gone:
    case loss_reason::container_died:
      caused = (l.asked & bit(how.why)) != 0;
      break;
    case loss_reason::none:
      break;
  }
  if (!caused) violated(rule::stopped_without_cause, now, pod, election);
}

}  // namespace tenure::sim
