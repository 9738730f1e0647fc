#include <algorithm>
#include <utility>

#include "judge.hpp"

/// What agents hear, what they agree on, and what they do by it.
namespace tenure::shell {

using namespace std::chrono_literals;

namespace {

/// From a candidate's look until what it writes by it is carried out, where nothing is slow.
constexpr core::duration look_to_write = 50ms;

std::string name_of(std::size_t pod, std::uint64_t version) {
  return "pod " + std::to_string(pod) + " in version " + std::to_string(version);
}

}  // namespace

// --- what the store tells them -----------------------------------------------------------------

void judge::enters(std::size_t pod, const std::string& which, std::uint64_t version) {
  if (term* const one = of(pod, which, version)) go_on_in(*one);
  seen_versions& seen = seen_[{pod, which}];
  const shown_state& shown = shown_[{pod, which}];
  const std::string who = name_of(pod, version);
  if (shown.is_without(version, shown.own)) {
    broke(rule::entered_lost_term, who + ", gone by " + std::to_string(shown.as_of));
  }
  if (version == std::exchange(seen.present, version)) return;
  if (const char* const why = dispute_of(shown)) {
    broke(rule::entered_disputed_term, who + ": " + why);
  }
  const std::uint64_t most = seen.largest();
  if (version <= most) {
    broke(rule::version_below_seen, who + " after " + std::to_string(most));
  }
  seen.granted = std::max(seen.granted, version);
  if (has_guards_) seen.known_to_guard = std::max(seen.known_to_guard, version);
}

/// Why a member with this before its eyes must not campaign; null: it may.
const char* judge::dispute_of(const shown_state& what) {
  if (what.keeps_other_slots) return "others keep another number of slots";
  return what.identity_in_use ? "another run uses its identity" : nullptr;
}

/// True if the election has another number of slots than this member is set up for, and somebody
/// holds, or another member is listed that is set up for that number. Of twins nobody knows which.
bool judge::keeps_other_slots(std::size_t pod, const core::observation& what) const {
  const member_facts& us = members_[pod];
  const std::size_t agreed = what.agreed.slots;
  if (agreed == 0 || agreed == us.slots) return false;
  const auto keeps = [&](const core::member& one) {
    return one.identity != us.identity &&
           std::ranges::none_of(members_, [&](const member_facts& other) {
             return other.identity == one.identity && other.slots != agreed;
           });
  };
  return !what.holders.empty() || (what.members && std::ranges::any_of(*what.members, keeps));
}

void judge::shown(std::size_t pod, const std::string& which, const core::observation& what) {
  seen_versions& seen = seen_[{pod, which}];
  const bool is_news = seen.has_watched && what.agreed.accepted_unix_ms > seen.accepted_unix_ms;
  seen.has_watched = true;
  seen.accepted_unix_ms = std::max(seen.accepted_unix_ms, what.agreed.accepted_unix_ms);
  if (is_news) {
    const std::uint64_t before = core::number(what.agreed.versions_from) - 1;
    seen.granted = std::min(seen.granted, before);
    seen.known_to_guard = std::min(seen.known_to_guard, before);
    seen.of_others = std::min(seen.of_others, before);
  }
  shown_state& shown = shown_[{pod, which}];
  shown = {.as_of = core::number(what.as_of),
           .at = shown.at,
           .keeps_other_slots = keeps_other_slots(pod, what),
           .identity_in_use = what.identity_in_use};
  for (const core::holder& one : what.holders) {
    shown.all.push_back(core::number(one.version));
    if (one.ours) shown.own.push_back(core::number(one.version));
  }
  if (shown.own.empty()) shown.at = world_.now;
  note_news(pod, which, what.holders.size() < members_[pod].slots);
  if (members_[pod].slots > 1 || what.holders.empty() || what.holders.back().ours) return;
  seen.of_others = std::max(seen.of_others, core::number(what.holders.back().version));
}

/// A holder that has heard from its session that it is over may use the store's own delay before
/// the next grant, as long as there is none.
void judge::note_news(std::size_t pod, const std::string& which, bool has_room) {
  const shown_state& shown = shown_[{pod, which}];
  for (term& one : terms_) {
    if (one.granted_to != pod || one.which != which) continue;
    one.told_over = one.told_over || shown.is_without(one.version, shown.own);
    if (!shown.is_without(one.version, shown.all)) continue;
    if (has_room && one.news_due != sim::world_never) continue;
    one.news_due = std::min(one.news_due, world_.now);
  }
}

void judge::told_lost(std::size_t pod, const std::string& which, std::uint64_t version,
                      core::duration delay, bool in_time) {
  term* const one = of(pod, which, version);
  if (one == nullptr) return;
  one->told_over = true;
  one->told_by_renewal = true;
  if (!in_time) return;
  one->news_due = std::min(one->news_due, std::max(world_.now, one->sent_at + delay));
}

void judge::stops(std::size_t pod, const std::string& which, std::uint64_t version,
                  world_time kill_by) {
  // Clocks are read in nanoseconds, and run at their own rates.
  constexpr core::duration rounding = std::chrono::milliseconds(1);
  const term* const one = of(pod, which, version);
  if (one == nullptr || !one->told_by_renewal || one->erased_at > world_.now) return;
  const world_time free_from = std::max(world_.now, one->delayed_until);
  if (kill_by <= free_from + rounding) return;
  const auto more = std::chrono::duration<double>(kill_by - free_from).count();
  broke(rule::grace_without_delay, name_of(pod, version) + ": " + std::to_string(more) + " s");
}

void judge::gives_up_as_lost(std::size_t pod, const std::string& which, std::uint64_t version) {
  const term* const one = of(pod, which, version);
  // One that it has not entered it gives back.
  if (one == nullptr || one->told_over || seen_[{pod, which}].present != version) return;
  broke(rule::lost_without_news, name_of(pod, version));
}

void judge::order_gone(const std::string& text, erased_by how) {
  if (how == erased_by::transaction && text.find(" accepted ") != std::string::npos) {
    broke(rule::accepted_order_dropped, text);
  }
}

// --- how many of them may hold -------------------------------------------------------------------

void judge::agreed(const std::string& election, std::uint32_t slots) {
  const std::size_t before = agreed_slots(election);
  agreement& its = agreed_.try_emplace(election, agreement{.slots = slots_}).first->second;
  const bool was_there = std::exchange(its.is_there, slots != 0);
  if (slots != 0) {
    its.slots = slots;
  } else if (was_there) {
    its.former_slots = before;
    // A write that relies on it may be carried out late.
    its.former_until = world_.now + (2 * ttl_);
  }
}

/// The number of slots follows the members: it changes while nobody holds. Call for each new term.
/// After an operator has taken the number away, members say it anew.
void judge::check_nobody_holds(const std::string& election, std::uint32_t slots) {
  const auto found = agreed_.find(election);
  const bool was_taken = found != agreed_.end() && found->second.former_until != world_time{};
  if (is_written_over_ || was_taken) return;
  for (const auto& [version, one] : present_) {
    const bool holds = one->which == election && one->believed_until > world_.now && !one->is_back;
    if (!holds || one->of_slots == slots) continue;
    broke(rule::slots_changed_while_held, election + " has " + std::to_string(slots) +
                                              " now, and " + one->owner + " holds it in version " +
                                              std::to_string(version));
  }
}

void judge::closed_slot_taken(const std::string& election) {
  closed_taken_[election] = world_.now + look_to_write;
}

std::size_t judge::agreed_slots(const std::string& which) const {
  const auto found = agreed_.find(which);
  if (found == agreed_.end()) return slots_;
  const agreement& its = found->second;
  return world_.now < its.former_until ? std::max(its.slots, its.former_slots) : its.slots;
}

std::size_t judge::slots_of(const std::string& which) const {
  std::size_t out = agreed_slots(which);
  for (const auto& [version, one] : present_) {
    if (one->which == which) out = std::max(out, one->of_slots);
  }
  return out;
}

// --- what goes on for too long -------------------------------------------------------------------

void judge::look() {
  look_at_workloads();
  look_at_unknown();
}

/// An excuse ends when its reason does: who has heard that its term is over kills at once, and who
/// has not stops when its lease is over.
void judge::look_at_workloads() {
  for (const auto& [which, all] : running_) {
    for (const running_one& one : all) {
      if (one.foreign) continue;
      const std::string who = name_of(one.pod, one.of->version);
      const world_time due = one.of->news_due;
      if (due <= world_.now && outlives_news(one.pod, one.of->version, due)) {
        broke(rule::outlives_news, who);
      }
      if (one.of->believed_until < world_.now && lives_by_mistake(one.pod, one.of->version)) {
        broke(rule::outlives_lease, who + ", which it believed to hold until then");
      }
    }
  }
}

/// It may have to wait for the death of what ran before, and to hear of it, and lets the heir come
/// first to a lease that its watch shows to be free.
void judge::look_at_unknown() {
  constexpr core::duration heir_comes_first = std::chrono::seconds(2);
  if (is_written_over_) return;
  for (auto& [who, since] : unknown_since_) {
    const auto& [pod, which] = who;
    const bool waits = std::ranges::any_of(running_[which],
                                           [&](const running_one& one) { return one.pod == pod; });
    if (waits || guard_hangs(pod) || out_of_sight_.contains(who)) since = world_.now;
    const world_time well = well_since(pod);
    if (well == sim::world_never || std::max(since, well) + ttl_ + heir_comes_first >= world_.now) {
      continue;
    }
    broke(rule::forgot_unknown, "pod " + std::to_string(pod) + " of " + which);
  }
}

// --- what they do --------------------------------------------------------------------------------

/// Who is to hold next is named in the store, and orders to resume are left there: neither is
/// forgotten.
void judge::begins_anew(std::size_t pod) {
  for (auto& [of, one] : aside_) {
    if (of.first == pod) {
      one = {.resumed_until = one.resumed_until, .heir_until = one.heir_until};
    }
  }
  const auto is_its = [&](const auto& one) { return one.first.first == pod; };
  std::erase_if(shown_, is_its);
  std::erase_if(unknown_since_, is_its);
  std::erase_if(out_of_sight_, is_its);
  for (term& one : terms_) {
    if (one.granted_to != pod) continue;
    one.news_due = sim::world_never;
    one.told_over = false;
    one.told_by_renewal = false;
  }
  for (auto& [who, seen] : seen_) {
    if (who.first != pod) continue;
    seen = {.present = seen.present, .known_to_guard = seen.known_to_guard};
  }
}

void judge::guard_begins(std::size_t pod) {
  for (auto& [who, seen] : seen_) {
    if (who.first == pod) seen.known_to_guard = 0;
  }
}

void judge::campaigns(std::size_t pod, const std::string& which, const candidate& what) {
  const std::string who = "pod " + std::to_string(pod) + " of " + which;
  finds_out(pod, which);
  if (what.ill) broke(rule::campaigns_while_unhealthy, who);
  if (what.lacks_guard) broke(rule::campaigns_without_guard, who);
  // What ran under the term that it has found cannot wait.
  if (!what.adopts) {
    const auto shown = shown_.find({pod, which});
    if (shown == shown_.end()) return broke(rule::campaigns_unseen, who);
    const shown_state& seen = shown->second;
    if (seen.keeps_other_slots) broke(rule::campaigns_against_agreement, who);
    if (seen.identity_in_use) broke(rule::campaigns_as_another, who);
  }
  if (const auto hidden = out_of_sight_.find({pod, which});
      hidden != out_of_sight_.end() && !what.adopts) {
    const term* const of_it = of(pod, which, hidden->second);
    const bool lasts = of_it != nullptr && world_.now < of_it->believed_until;
    if (lasts && !of_it->told_over) broke(rule::campaigns_out_of_sight, who);
    out_of_sight_.erase(hidden);
  }
  const auto found = aside_.find({pod, which});
  if (found == aside_.end()) return;
  const standing_aside& one = found->second;
  if (world_.now < one.resumed_until) return;
  if (world_.now > one.paused_from) broke(rule::campaigns_while_paused, who);
  if (world_.now < one.until && world_.now >= one.heir_until) {
    broke(rule::campaigns_while_aside, who);
  }
}

void judge::out_of_sight(std::size_t pod, const std::string& which, std::uint64_t version) {
  say(name_of(pod, version) + ": nobody can tell what lives");
  out_of_sight_[{pod, which}] = version;
}

void judge::in_sight(std::size_t pod, const std::string& which) {
  out_of_sight_.erase({pod, which});
}

void judge::renews(std::size_t pod, const std::string& which, std::uint64_t version) {
  const auto found = out_of_sight_.find({pod, which});
  if (found == out_of_sight_.end() || found->second != version) return;
  broke(rule::renewed_out_of_sight, name_of(pod, version));
}

}  // namespace tenure::shell
