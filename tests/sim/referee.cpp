#include "referee.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "bit.hpp"

namespace tenure::sim {
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

// --- the store -----------------------------------------------------------------------------------

void referee::granted(world_time now, std::size_t election, std::size_t pod,
                      core::version version) {
  if (version <= last_granted_[election]) violated(rule::version_not_larger, now, pod, election);
  last_granted_[election] = version;
  // After a restore the same version may be given out again; what befell the first is over. But
  // what runs under it may by now be one too many: docs/safety.md, "a store restored from a
  // backup".
  const auto taken_away = std::erase_if(removals_[pod][election],
                                        [&](const removal& r) { return r.version == version; });
  running& r = running_[pod][election];
  if (taken_away > 0 && r.alive && r.version == version) r.given_again = true;
  for (promise& p : promises_[pod][election].all) {
    if (p.version == version) p = {};
  }
  if (count_claims(now, election, pod) + 1 > mix_.slots[election]) {
    violated(rule::too_many_claims, now, pod, election);
  }
}

void referee::promised(std::size_t election, std::size_t pod, core::version version,
                       world_time until) {
  promises& made = promises_[pod][election];
  const auto known = std::ranges::find(made.all, version, &promise::version);
  if (known != made.all.end()) {
    known->until = std::max(known->until, until);
    return;
  }
  made.all[made.oldest] = {.version = version, .until = until};
  made.oldest = (made.oldest + 1) % made.all.size();
}

/// The store obeys, so a slot that is freed too early was given up too early, or was
/// asked for again while an old release was still under way.
void referee::released(world_time now, std::size_t election, std::size_t pod,
                       core::version version) {
  if (version <= given_twice_[election]) {
    // A late release of before the restore may take a number that was given out again for dead, and
    // the next holder does not wait: docs/safety.md, "a store restored from a backup".
    for (auto& of_pod : removals_) {
      for (removal& one : of_pod[election]) one.is_waited_for = false;
    }
  }
  const running& r = running_[pod][election];
  bool in_use = r.alive && r.version == version;
  if (agents_[pod].machine != nullptr) {
    const core::election_index which{static_cast<std::uint32_t>(election)};
    const core::election_view& view = agents_[pod].machine->at(which).view();
    const bool entered = view.phase == core::phase::pending || view.phase == core::phase::active;
    in_use = in_use || (entered && view.lease->version == version);
  }
  if (!in_use) return;
  if (version > given_twice_[election]) violated(rule::released_in_use, now, pod, election);
  // A late release of before the restore, and the number was given out again since: docs/safety.md,
  // "a store restored from a backup".
  running_[pod][election].given_again = true;
  removed_by_operator(now, election, pod, version);
}

void referee::removed_by_operator(world_time now, std::size_t election, std::size_t pod,
                                  core::version version) {
  removals_[pod][election].push_back({.version = version, .at = now});
}

void referee::versions_moved_back() {
  for (std::size_t e = 0; e < mix_.elections; ++e) {
    given_twice_[e] = std::max(given_twice_[e], last_granted_[e]);
    last_granted_[e] = core::no_version;
  }
}

// --- what reaches an agent -----------------------------------------------------------------------

void referee::agent_began(std::size_t pod, const core::lease_group* machine, machine_clock clock) {
  agents_[pod] = {};
  agents_[pod].machine = machine;
  agents_[pod].clock = clock;
}

void referee::found(std::size_t pod, std::size_t election,
                    const core::event::workload_found& what) {
  ledger& l = agents_[pod].of[election];
  l.version = l.found = what.version;
  l.must_stop_at = l.may_stop_at = what.stop_at;
  if (what.stopping) l.seen = std::max(l.seen, what.version);
}

void referee::began_term(world_time now, std::size_t pod, std::size_t election,
                         core::version version, core::time_point sent_at, core::duration ttl) {
  ledger& l = agents_[pod].of[election];
  const bool too_late = agents_[pod].clock.local(now) >= sent_at + stop_after(ttl);
  l.overtaken = l.seen_gone(version);
  if (too_late || l.overtaken) return;
  const core::version found = std::exchange(l.found, core::no_version);
  if (found != version) l.seen = std::max(l.seen, found);
  l.lost = false;
  l.version = version;
  l.must_stop_at = core::time_point::min();
  l.may_stop_at = core::time_point::min();
}

void referee::acknowledged(world_time now, std::size_t pod, std::size_t election,
                           core::version version, core::time_point sent_at, core::duration ttl,
                           bool in_time) {
  ledger& l = agents_[pod].of[election];
  if (l.version != version) return;
  const bool is_first = l.may_stop_at == core::time_point::min();
  const core::time_point shown = agents_[pod].clock.local(now);
  // After stop_at nothing moves it any more. An answer that need not be believed moves only the
  // later of the two.
  if (!is_first && shown >= l.may_stop_at) return;
  const core::time_point stop_at = sent_at + stop_after(ttl);
  if (in_time && (is_first || shown < l.must_stop_at)) {
    l.must_stop_at = std::max(l.must_stop_at, stop_at);
  }
  l.may_stop_at = std::max(l.may_stop_at, stop_at);
}

void referee::saw_version(std::size_t pod, std::size_t election, core::version seen) {
  ledger& l = agents_[pod].of[election];
  l.seen = std::max(l.seen, seen);
}

void referee::told_lost(world_time now, std::size_t pod, std::size_t election,
                        core::version version, bool in_time) {
  ledger& l = agents_[pod].of[election];
  if (l.version == version) {
    l.lost = true;
    l.releasing = false;
  }
  if (!in_time) return;
  for (removal& r : removals_[pod][election]) {
    if (r.version == version) r.news = std::min(r.news, now);
  }
}

void referee::asked(std::size_t pod, std::size_t election, core::loss_reason why) {
  agents_[pod].of[election].asked |= bit(why);
}

// --- claims --------------------------------------------------------------------------------------

/// A pod that stands still answers nobody.
bool referee::claims(world_time now, std::size_t pod, std::size_t election) const {
  const agent_record& agent = agents_[pod];
  if (agent.machine == nullptr || standstills_[pod].lasts) return false;
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

std::size_t referee::count_claims(world_time now, std::size_t election, std::size_t but_for) const {
  std::size_t count = 0;
  for (std::size_t pod = 0; pod < mix_.pods; ++pod) {
    if (pod == but_for || !claims(now, pod, election)) continue;
    const core::election_index which{static_cast<std::uint32_t>(election)};
    const core::version version = agents_[pod].machine->at(which).view().lease->version;
    if (!unaware(pod, election, version)) ++count;
  }
  return count;
}

const referee::removal* referee::removed(std::size_t pod, std::size_t election,
                                         core::version version) const {
  const std::vector<removal>& all = removals_[pod][election];
  const auto newest = std::find_if(all.rbegin(), all.rend(),
                                   [&](const removal& r) { return r.version == version; });
  return newest == all.rend() ? nullptr : &*newest;
}

/// docs/safety.md: an operator deletes the lock while the holder is cut off. It gives up in the
/// instant in which it hears of it, and that ends the excuse.
bool referee::unaware(std::size_t pod, std::size_t election, core::version version) const {
  const removal* const gone = removed(pod, election, version);
  return gone != nullptr && gone->news == world_never;
}

}  // namespace tenure::sim
