#include "referee.hpp"

#include <algorithm>
#include <cstdio>

namespace tenure::sim {
namespace {

using namespace std::chrono_literals;

/// Steps of one agent within one second. Core may try again after a millisecond at the least.
constexpr std::uint32_t most_steps_per_second = 3000;

/// Between two right ways to divide.
constexpr core::duration rounding = 1us;

std::uint32_t bit(core::loss_reason why) {
  return 1U << static_cast<unsigned>(why);
}

/// As long as `d` may take on the slowest clock, and as short as on the fastest.
core::duration stretched(core::duration d) {
  return d + d / 200 + 1us;
}
core::duration shrunk(core::duration d) {
  return d - d / 200 - 1us;
}

}  // namespace

void referee::violated(rule what, world_time now, std::size_t pod, std::size_t election) {
  if (broken_ != rule::none) return;
  broken_ = what;
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "%s: pod %zu, election %zu, at %.6f s", name(what), pod,
                election, std::chrono::duration<double>(now.time_since_epoch()).count());
  details_ = text.data();
}

core::duration referee::stop_after(core::duration ttl) const {
  const std::int64_t margin = (ttl.count() / 1000 * mix_.when.drift_ppm + 999) / 1000;
  return ttl - core::duration(margin) - mix_.when.kill_budget - mix_.when.grace;
}

// --- the store ---------------------------------------------------------------------------------

void referee::granted(world_time now, std::size_t election, std::size_t pod, core::version term,
                      bool moved_back) {
  if (!moved_back && term <= last_granted_[election]) {
    violated(rule::version_not_larger, now, pod, election);
  }
  last_granted_[election] = term;
  if (count_claims(now, election, pod) + 1 > mix_.slots[election]) {
    violated(rule::too_many_claims, now, pod, election);
  }
}

void referee::promised(std::size_t election, std::size_t pod, core::version term,
                       world_time until) {
  promise& p = promises_[pod][election];
  p.until = p.term == term ? std::max(p.until, until) : until;
  p.term = term;
}

void referee::removed_by_operator(world_time now, std::size_t election, std::size_t pod,
                                  core::version term) {
  removals_[pod][election].push_back({.term = term, .at = now});
}

// --- what reaches an agent -----------------------------------------------------------------------

void referee::agent_began(std::size_t pod, const core::session* machine, machine_clock clock) {
  const bool frozen = agents_[pod].frozen;
  agents_[pod] = {};
  agents_[pod].machine = machine;
  agents_[pod].clock = clock;
  agents_[pod].frozen = frozen;
}

void referee::began_term(std::size_t pod, std::size_t election, core::version term) {
  ledger& l = agents_[pod].of[election];
  l.lost = false;
  l.regressed = term <= l.seen;
  l.term = term;
  l.must_stop_at = core::time_point::min();
  l.may_stop_at = core::time_point::min();
}

void referee::acknowledged(world_time now, std::size_t pod, std::size_t election,
                           core::version term, core::time_point sent_at, core::duration ttl,
                           bool in_time) {
  ledger& l = agents_[pod].of[election];
  if (l.term != term) return;
  const bool is_first = l.may_stop_at == core::time_point::min();
  // After stop_at nothing moves it any more.
  if (!is_first && agents_[pod].clock.local(now) >= l.may_stop_at) return;
  const core::time_point stop_at = sent_at + stop_after(ttl);
  if (in_time) l.must_stop_at = std::max(l.must_stop_at, stop_at);
  l.may_stop_at = std::max(l.may_stop_at, stop_at);
}

void referee::saw_version(std::size_t pod, std::size_t election, core::version seen) {
  ledger& l = agents_[pod].of[election];
  l.seen = std::max(l.seen, seen);
}

void referee::told_lost(world_time now, std::size_t pod, std::size_t election, core::version term) {
  ledger& l = agents_[pod].of[election];
  if (l.term == term) l.lost = true;
  for (removal& r : removals_[pod][election]) {
    if (r.term == term) r.news = std::min(r.news, now);
  }
}

void referee::asked(std::size_t pod, std::size_t election, core::loss_reason why) {
  agents_[pod].of[election].asked |= bit(why);
}

bool referee::claims(world_time now, std::size_t pod, std::size_t election) const {
  const agent_record& agent = agents_[pod];
  if (agent.machine == nullptr || agent.frozen) return false;
  const core::election_index which{static_cast<std::uint32_t>(election)};
  return agent.machine->at(which).view().valid_at(agent.clock.local(now));
}

void referee::check_claim(world_time now, std::size_t pod, std::size_t election) {
  if (!claims(now, pod, election)) return;
  const agent_record& agent = agents_[pod];
  if (agent.clock.local(now) >= agent.of[election].may_stop_at) {
    violated(rule::claim_beyond_lease, now, pod, election);
  }
}

/// Claims of others. One whose lease an operator has removed cannot know until it is told, and
/// gives up in the same instant.
std::size_t referee::count_claims(world_time now, std::size_t election, std::size_t but_for) const {
  std::size_t count = 0;
  for (std::size_t pod = 0; pod < mix_.pods; ++pod) {
    if (pod == but_for || !claims(now, pod, election)) continue;
    const core::election_index which{static_cast<std::uint32_t>(election)};
    const core::version term = agents_[pod].machine->at(which).view().lease->term;
    if (removed(pod, election, term) == nullptr) ++count;
  }
  return count;
}

// --- what an agent does
// ----------------------------------------------------------------------------

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
  if ((agents_[pod].of[election].asked & bit(core::loss_reason::shutdown)) != 0) {
    violated(rule::campaign_in_shutdown, now, pod, election);
  }
}

void referee::releases(world_time now, std::size_t pod, std::size_t election, bool may_run) {
  if (may_run) violated(rule::released_while_running, now, pod, election);
}

void referee::arms(world_time now, std::size_t pod, std::size_t election, core::version term,
                   core::time_point kill_at) {
  const agent_record& agent = agents_[pod];
  const promise& p = promises_[pod][election];
  const world_time dead_by = agent.clock.world(kill_at) + agent.clock.takes(mix_.when.kill_budget);
  if (p.term == term && dead_by > p.until && removed(pod, election, term) == nullptr) {
    violated(rule::armed_beyond_promise, now, pod, election);
  }
  if (agent.clock.local(now) >= agent.of[election].may_stop_at) {
    violated(rule::armed_after_stop_at, now, pod, election);
  }
}

void referee::starts(world_time now, std::size_t pod, std::size_t election, core::version term,
                     bool may_run) {
  const agent_record& agent = agents_[pod];
  const ledger& l = agent.of[election];
  if (may_run) violated(rule::started_over_previous, now, pod, election);
  if (agent.clock.local(now) >= l.may_stop_at) violated(rule::started_late, now, pod, election);
  if (term < l.seen) violated(rule::version_went_back, now, pod, election);
  saw_version(pod, election, term);
}

void referee::changes(world_time now, std::size_t pod, std::size_t election,
                      const core::command::transition& how) {
  using core::loss_reason;
  if (how.to == core::phase::active) {
    const core::version own = agents_[pod].of[election].term;
    if (removed(pod, election, own) == nullptr &&
        count_claims(now, election, pod) >= mix_.slots[election]) {
      violated(rule::too_many_claims, now, pod, election);
    }
    return;
  }
  const agent_record& agent = agents_[pod];
  ledger& l = agents_[pod].of[election];
  if (how.to != core::phase::draining) {
    // The term is over; after a restored backup the next may have the same number.
    if (how.from == core::phase::draining) l.term = core::no_version;
    return;
  }
  bool caused = false;
  switch (how.why) {
    case loss_reason::renew_timeout:
      caused = agent.clock.local(now) + rounding >= l.must_stop_at;
      break;
    case loss_reason::taken_over:
    case loss_reason::revoked:
    case loss_reason::session_invalid:
      caused = l.lost;
      break;
    case loss_reason::version_regressed:
      caused = l.regressed;
      break;
    case loss_reason::unhealthy:
    case loss_reason::resigned:
    case loss_reason::shutdown:
    case loss_reason::workload_exited:
      caused = (l.asked & bit(how.why)) != 0;
      break;
    case loss_reason::suspended:
    case loss_reason::none:
      break;
  }
  if (!caused) violated(rule::stopped_without_cause, now, pod, election);
}

// --- workloads
// -------------------------------------------------------------------------------------

void referee::workload_began(world_time now, std::size_t pod, std::size_t election,
                             core::version term, core::duration kill_takes, bool was_frozen) {
  running_[pod][election] = {
      .alive = true, .was_frozen = was_frozen, .term = term, .kill_takes = kill_takes};
  std::size_t count = 0;
  for (std::size_t other = 0; other < mix_.pods; ++other) {
    if (running_[other][election].alive && !excused(other, election)) ++count;
  }
  if (count > mix_.slots[election]) violated(rule::too_many_running, now, pod, election);
}

void referee::workload_ended(std::size_t pod, std::size_t election) {
  running_[pod][election].alive = false;
}

/// True for a workload that nobody could have ended in time: its pod stood still, or an operator
/// took its lease away and the news came later than lock_delay can cover.
bool referee::excused(std::size_t pod, std::size_t election) const {
  const running& r = running_[pod][election];
  if (r.was_frozen) return true;
  const removal* const gone = removed(pod, election, r.term);
  if (gone == nullptr) return false;
  if (gone->news == world_never) return true;
  const core::duration grace =
      std::max(core::duration{}, mix_.store_lock_delay - mix_.when.kill_budget);
  const world_time dead_by = gone->news + stretched(grace) + mix_.socket_delay_most + r.kill_takes;
  return dead_by > gone->at + shrunk(mix_.store_lock_delay) + shrunk(mix_.when.lock_delay);
}

const referee::removal* referee::removed(std::size_t pod, std::size_t election,
                                         core::version term) const {
  const std::vector<removal>& all = removals_[pod][election];
  const auto newest =
      std::find_if(all.rbegin(), all.rend(), [&](const removal& r) { return r.term == term; });
  return newest == all.rend() ? nullptr : &*newest;
}

void referee::froze(std::size_t pod, bool frozen) {
  agents_[pod].frozen = frozen;
  if (!frozen) return;
  for (running& r : running_[pod]) r.was_frozen = r.was_frozen || r.alive;
}

void referee::wrote(world_time now, std::size_t pod, std::size_t election, core::version term,
                    bool is_holder, bool moved_back) {
  core::version& highest = highest_accepted_[election];
  if (term >= highest) {
    highest = term;
  } else if (is_holder && !moved_back && mix_.slots[election] == 1) {
    violated(rule::holder_fenced_out, now, pod, election);
  }
}

const char* name(rule r) {
  switch (r) {
    case rule::none:
      return "none";
    case rule::too_many_running:
      return "too_many_running";
    case rule::too_many_claims:
      return "too_many_claims";
    case rule::version_not_larger:
      return "version_not_larger";
    case rule::version_went_back:
      return "version_went_back";
    case rule::holder_fenced_out:
      return "holder_fenced_out";
    case rule::released_while_running:
      return "released_while_running";
    case rule::armed_beyond_promise:
      return "armed_beyond_promise";
    case rule::armed_after_stop_at:
      return "armed_after_stop_at";
    case rule::stopped_without_cause:
      return "stopped_without_cause";
    case rule::killed_without_cause:
      return "killed_without_cause";
    case rule::claim_beyond_lease:
      return "claim_beyond_lease";
    case rule::campaign_in_shutdown:
      return "campaign_in_shutdown";
    case rule::started_late:
      return "started_late";
    case rule::started_over_previous:
      return "started_over_previous";
    case rule::campaign_over_previous:
      return "campaign_over_previous";
    case rule::busy_loop:
      return "busy_loop";
    case rule::no_holder:
      return "no_holder";
    case rule::did_not_end:
      return "did_not_end";
  }
  return "unknown";
}

}  // namespace tenure::sim
