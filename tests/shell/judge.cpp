#include "judge.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

namespace tenure::shell {
namespace {

constexpr std::string_view name_of_pods = "pod-";

/// "db0" of "db0/5f…"; empty for what is not a contender.
std::string election_of(const std::string& key) {
  const auto slash = key.find('/');
  const std::string before = key.substr(0, slash);
  return slash == std::string::npos || before.contains('.') ? std::string() : before;
}

/// So long after it goes on, an agent may still read what came while it stood still.
constexpr core::duration late_news = std::chrono::milliseconds(100);

}  // namespace

void judge::say(const std::string& what) const {
  if (!traced_) return;
  const auto since = world_.now.time_since_epoch() - std::chrono::hours(1);
  std::printf("%9.3f   %s\n", std::chrono::duration<double>(since).count(), what.c_str());
}

void judge::broke(rule what, const std::string& details) {
  if (broken_ != rule::none) return;
  broken_ = what;
  broken_name_ = name(what);
  const auto since = world_.now.time_since_epoch() - std::chrono::hours(1);
  details_ = std::string(name(what)) + " after " +
             std::to_string(std::chrono::duration<double>(since).count()) + " s: " + details;
}

void judge::broke_guard_rule(const std::string& name, const std::string& details) {
  if (broken_ != rule::none) return;
  broken_ = rule::guard;
  broken_name_ = name;
  details_ = details;
}

void judge::created(const std::string& key, std::uint64_t revision, std::int64_t lease,
                    const std::string& value) {
  const std::string which = election_of(key);
  if (which.empty()) return;
  changed_[which] = world_.now;
  say(key + " is there in version " + std::to_string(revision));
  newest_ = std::max(newest_, revision);
  // As lease_ids of stores/etcd makes them: the upper part is the session's; 0: no agent has done
  // that, but an operator who writes what an agent has written before.
  constexpr int session_shift = 24;
  const auto session = lease >> session_shift;
  const auto is_second = [&](const auto& other) {
    const term& one = *other.second;
    return one.which == which && one.owner == value && one.lease >> session_shift == session &&
           !one.is_back;
  };
  const bool is_pods = session != 0 && value.starts_with(name_of_pods);
  if (is_pods && std::ranges::any_of(present_, is_second)) {
    broke(rule::takes_two_slots, value + " in version " + std::to_string(revision));
  }
  term& made = terms_.emplace_back(term{.which = which,
                                        .key = key,
                                        .owner = value,
                                        .version = revision,
                                        .lease = lease,
                                        .of_slots = agreed_slots(which),
                                        .number = ++last_number_,
                                        .created_at = world_.now,
                                        .placed_at = world_.now});
  made.came_clean = was_left_clean(made);
  check_nobody_holds(which, static_cast<std::uint32_t>(made.of_slots));
  present_[revision] = &made;
  if (value.starts_with(name_of_pods))
    on_grant(std::stoul(value.substr(name_of_pods.size())), which);
}

void judge::moved(std::uint64_t version, const std::string& to, std::int64_t lease) {
  const auto found = present_.find(version);
  if (found == present_.end()) return;
  say(found->second->key + " of version " + std::to_string(version) + " goes on as " + to +
      ", in another session");
  found->second->key = to;
  found->second->lease = lease;
}

void judge::erased(const std::string& key, std::uint64_t create_revision, erased_by how) {
  const auto found = present_.find(create_revision);
  if (found == present_.end() || found->second->key != key) return;
  term& one = *found->second;
  present_.erase(found);
  changed_[one.which] = world_.now;
  one.erased_at = world_.now;
  one.how = how;
  // One that began earlier followed another holder.
  const auto delay = delays_.find(key);
  if (delay != delays_.end() && delay->second.since == world_.now) {
    one.delayed_until = delay->second.until;
  }
  const std::string version = std::to_string(create_revision);
  say(key + " of version " + version +
      (how == erased_by::transaction ? " is released"
       : how == erased_by::expiry    ? " has run out"
                                     : " is taken away"));
  if (how == erased_by::expiry) {
    for (const running_one& running : running_[one.which]) {
      if (running.of != &one || running.foreign) continue;
      if (!lives_by_mistake(running.pod, create_revision)) continue;
      broke(rule::outlives_lease, "pod " + std::to_string(running.pod) + " in version " + version);
    }
  }
  if (how != erased_by::transaction) return;
  const auto& pod = one.granted_to;
  const bool holds_it = pod && of(*pod, one.which, create_revision) == &one &&
                        is_in(*pod, one.which, create_revision);
  // What was taken away goes on for a moment, even if a restore brings its key back. So does who
  // asks an agent that hears last of the taking away, and gives back what is there again: after a
  // restore, or since another number of slots did not count it for a moment.
  const bool is_given_back = !has_guards_ && !holds_it && !one.clean;
  const bool was_interrupted = (one.is_back && one.started_at < one.placed_at) ||
                               (is_given_back && (one.is_back || one.told_over)) ||
                               is_put_behind(one);
  const bool left_alone = one.granted_to && is_left_alone(*one.granted_to);
  // Out of sight it was let run out, but a restore has given it time anew: others may hold as if it
  // had run out.
  const bool had_run_out = !one.clean && world_.now >= one.believed_until;
  if (one.alive && !was_interrupted && !left_alone && !had_run_out) {
    broke(rule::released_in_use, "the workload of version " + version + " runs");
  }
  if (holds_it && !one.witnessed) {
    broke(rule::released_in_use, "pod " + std::to_string(*pod) + " is in version " + version);
  }
}

/// What the backup does not have was taken away; what had ended since is there again, and nobody
/// needs to know of it.
void judge::restored(const std::vector<restored_key>& there, std::uint64_t revision) {
  was_restored_ = true;
  restored_at_ = world_.now;
  newest_ = revision;
  say("restored, at revision " + std::to_string(revision));
  // An agent that stood still may read now that the term before its own was released.
  for (const auto& [version, one] : present_) {
    one->came_clean = one->came_clean || was_left_clean(*one);
  }
  auto before = std::exchange(present_, {});
  for (const restored_key& one : there) {
    const auto is_it = [&](const term& t) {
      return t.which == election_of(one.key) && t.version == one.create_revision;
    };
    const auto found = std::ranges::find_if(terms_.rbegin(), terms_.rend(), [&](const term& t) {
      return t.key == one.key && is_it(t);
    });
    // With a lease, it may have moved since; without, what is not known is nobody's term.
    const auto known = found != terms_.rend() || one.lease == 0
                           ? found
                           : std::ranges::find_if(terms_.rbegin(), terms_.rend(), is_it);
    if (known == terms_.rend()) continue;
    present_[one.create_revision] = &*known;
    if (one.lease == 0 || known->lease == one.lease) continue;
    // An answer from before the restore may still name it.
    known->key_before = std::exchange(known->key, one.key);
    known->lease = one.lease;
    // Its agent finds the term in the lease of before, and takes it for one that is over.
    known->is_back = true;
  }
  for (const auto& [version, one] : before) {
    const auto kept = present_.find(version);
    if (kept != present_.end() && kept->second == one) continue;
    one->erased_at = world_.now;
    one->how = erased_by::somebody;
    say(one->key + " of version " + std::to_string(version) + " is taken away");
  }
  for (const auto& [version, one] : present_) {
    // What is there now comes after all that was taken away, in the order of the backup.
    one->number = ++last_number_;
    one->placed_at = world_.now;
    one->told_at = sim::world_never;
    if (one->erased_at == sim::world_never) continue;
    one->erased_at = sim::world_never;
    one->created_at = world_.now;
    one->is_back = true;
    say(one->key + " of version " + std::to_string(version) + " is there again");
  }
  for (auto& [which, when] : changed_) when = world_.now;
  // The release record that names it may be back, and nobody can tell it from a new one; and so may
  // an order to resume.
  for (auto& [who, one] : aside_) {
    if (one.heir_until != world_time{}) one.heir_until = sim::world_never;
    if (one.resumed_until != world_time{}) one.resumed_until = world_.now + order_stays_;
  }
  for (auto& [which, highest] : highest_) {
    if (highest.version > revision) highest = {};
  }
}

void judge::put_back(const std::string& key, std::uint64_t version, bool by_holder) {
  const auto known = std::ranges::find_if(terms_.rbegin(), terms_.rend(), [&](const term& one) {
    return one.key == key && one.version == version;
  });
  if (known == terms_.rend()) return;
  term& one = *known;
  say(key + " of version " + std::to_string(version) + " goes on");
  present_[version] = &one;
  changed_[one.which] = world_.now;
  one.erased_at = sim::world_never;
  if (by_holder) return;
  one.number = ++last_number_;
  one.placed_at = one.created_at = world_.now;
  one.is_back = true;
}

judge::term* judge::of(std::size_t pod, const std::string& which, std::uint64_t version) {
  const auto found = std::ranges::find_if(terms_.rbegin(), terms_.rend(), [&](const term& one) {
    return one.version == version && one.granted_to == pod && one.which == which;
  });
  return found == terms_.rend() ? nullptr : &*found;
}

void judge::believes(std::size_t pod, const std::string& which, std::uint64_t version,
                     world_time sent_at, core::duration ttl,
                     const std::function<world_time(std::int64_t lease)>& promised) {
  const std::string who = "pod " + std::to_string(pod) + " in version " + std::to_string(version);
  say(who + " believes in it until " +
      std::to_string(
          std::chrono::duration<double>((sent_at + ttl).time_since_epoch() - std::chrono::hours(1))
              .count()));
  term* const one = of(pod, which, version);
  if (one == nullptr) return broke(rule::believed_what_is_not, who + " of " + which);
  one->sent_at = std::max(one->sent_at, sent_at);
  one->believed_until = std::max(one->believed_until, sent_at + ttl);
  if (one->erased_at < sent_at) {
    const auto ago = std::chrono::duration<double>(sent_at - one->erased_at).count();
    return broke(rule::believed_what_was_gone,
                 who + ": the key was gone " + std::to_string(ago) + " s before");
  }
  const world_time until = sent_at + ttl;
  if (promised(one->lease) < until) {
    const auto more = std::chrono::duration<double>(until - promised(one->lease)).count();
    broke(rule::believed_beyond_promise, who + ": by " + std::to_string(more) + " s");
  }
}

void judge::granted(std::size_t pod, const std::string& which, std::uint64_t version,
                    const std::string& key, std::uint32_t slot) {
  const std::string who = "pod " + std::to_string(pod) + " in version " + std::to_string(version);
  const auto found = std::ranges::find_if(terms_.rbegin(), terms_.rend(), [&](const term& one) {
    const bool is_its = key.empty() || one.key == key || one.key_before == key;
    return one.version == version && one.which == which && is_its &&
           one.owner == members_[pod].identity;
  });
  if (found == terms_.rend()) return broke(rule::believed_what_is_not, who + " of " + which);
  found->granted_to = pod;
  found->slot = slot;
  // After a restore it may be granted again what was over.
  found->news_due = sim::world_never;
  found->told_over = false;
  // What it reads first when it goes on is older than a restore meanwhile.
  const world_time well = well_since(pod);
  const bool reads_old = well <= world_.now && world_.now < well + late_news;
  // It may have stood in line until others were gone.
  const auto held = std::ranges::count_if(terms_, [&](const term& other) {
    const bool is_told = other.told_at <= world_.now && other.told_to == found->owner;
    const bool is_news = (reads_old && other.is_back && other.placed_at <= well) ||
                         has_not_read_of(other, pod, world_.now);
    return other.which == which && other.number < found->number && other.erased_at > world_.now &&
           !is_told && !is_news;
  });
  const auto taken = closed_taken_.find(which);
  const bool is_beside = taken != closed_taken_.end() && world_.now < taken->second;
  if (static_cast<std::size_t>(held) < slots_of(which) + (is_beside ? 1 : 0)) return;
  broke(rule::granted_while_held, who + ": " + std::to_string(held) + " held it");
}

/// A restore may let the store count up to the same version once more. If the pod whose
/// workload runs under it enters that term, the workload goes on in it.
void judge::go_on_in(term& granted) {
  for (running_one& one : running_[granted.which]) {
    const bool is_its = !one.foreign && one.pod == granted.granted_to;
    if (!is_its || one.of == &granted || one.of->version != granted.version) continue;
    granted.started_at = one.of->started_at;
    granted.alive = std::exchange(one.of->alive, false);
    one.of = &granted;
  }
}

/// Orders that were there stay as long again: those that had not run out when the last leader was
/// lost. A cluster is without a leader for a few seconds.
void judge::leases_begin_anew() {
  constexpr core::duration longest_without_leader = std::chrono::seconds(10);
  for (auto& [who, one] : aside_) {
    if (one.resumed_until == world_time{}) continue;
    if (one.resumed_until + longest_without_leader < world_.now) continue;
    one.resumed_until = std::max(one.resumed_until, world_.now + order_stays_);
  }
}

void judge::tells(std::size_t pod, const std::string& which, std::uint64_t version,
                  std::size_t to) {
  const std::string who = "pod " + std::to_string(pod) + " in version " + std::to_string(version);
  say(who + " tells pod " + std::to_string(to) + " that it is over");
  term* const one = of(pod, which, version);
  if (one == nullptr) return broke(rule::told_in_use, who + ", which it was not granted");
  const bool left_alone = is_left_alone(pod);
  if (one->alive && !left_alone) broke(rule::told_in_use, who + ": its workload runs");
  if (is_in(pod, which, version)) broke(rule::told_in_use, who + " is in it");
  if (one->told_at != sim::world_never) return;
  one->told_at = world_.now;
  one->told_to = members_[to].identity;
}

std::optional<std::size_t> judge::pod_in_line(const std::string& which, std::size_t place) const {
  const auto all = in_line(which);
  if (all.size() <= place) return std::nullopt;
  const std::string& owner = present_.at(all[place])->owner;
  if (!owner.starts_with(name_of_pods)) return std::nullopt;
  return std::stoul(owner.substr(name_of_pods.size()));
}

bool judge::is_told_by_first(const std::string& which,
                             const std::vector<std::uint64_t>& shown) const {
  const auto all = in_line(which);
  if (all.size() < 2 || shown.size() != 1 || shown.front() != all[1]) return false;
  const term& first = *present_.at(all[0]);
  return first.told_at <= world_.now && first.told_to == present_.at(all[1])->owner;
}

std::vector<std::uint64_t> judge::in_line(const std::string& which) const {
  std::vector<const term*> all;
  for (const auto& [version, one] : present_) {
    if (one->which == which) all.push_back(one);
  }
  std::ranges::sort(all, {}, &term::number);
  std::vector<std::uint64_t> out;
  for (const term* one : all) out.push_back(one->version);
  return out;
}

bool judge::has_predecessor(const term& before) const {
  return std::ranges::any_of(terms_, [&](const term& one) {
    return one.which == before.which && one.number < before.number;
  });
}

/// A restore has brought back who held before it, and with that put it back into the line: it is
/// taken over, also if its agent hears of that when the workload has begun.
bool judge::is_put_behind(const term& what) const {
  return std::ranges::any_of(terms_, [&](const term& older) {
    return older.which == what.which && older.number < what.number && older.is_back &&
           older.placed_at >= what.created_at;
  });
}

/// It went while one that is older was there, or in the same step: it stood in line and never held.
bool judge::has_only_waited(const term& what) const {
  return std::ranges::any_of(terms_, [&](const term& older) {
    const bool is_told = older.told_at <= world_.now && older.told_to == what.owner;
    return older.which == what.which && older.number < what.number &&
           older.erased_at >= what.erased_at && !(is_told && what.granted_to);
  });
}

/// Of those that were there before, it is the last to go that has held: who was behind it held
/// after it.
bool judge::was_left_clean(const term& before) const {
  world_time last{};
  bool clean = true;
  for (const term& one : terms_) {
    if (one.which != before.which || one.number >= before.number || one.end() < last) continue;
    if (one.owner == nobodys_name || has_only_waited(one)) continue;
    const bool was_told = one.told_at <= world_.now && one.told_to == before.owner;
    const bool is_clean = (one.how == erased_by::transaction || was_told) && one.clean;
    clean = is_clean && (clean || one.end() > last);
    last = one.end();
  }
  return clean;
}

/// It has been shown nothing since, so it cannot know of what the restore has taken away: it finds
/// the store as it has seen it last.
bool judge::has_missed_a_restore(std::size_t pod, const std::string& which) const {
  const auto found = shown_.find({pod, which});
  return may_miss_restores_ && was_restored_ && found != shown_.end() &&
         found->second.at < restored_at_;
}

/// A restore has brought it back, and the pod had read nothing by then that was sent since.
bool judge::has_not_read_of(const term& what, std::size_t pod, world_time by) const {
  return what.is_back && news_from(pod, by) < what.placed_at;
}

void judge::is_witnessed(const std::string& which, std::uint64_t version) {
  // It may have run out, and go on since nobody else has taken it: then it is not present now.
  const auto found = std::ranges::find_if(terms_ | std::views::reverse, [&](const term& one) {
    return one.which == which && one.version == version;
  });
  if (found == std::ranges::rend(terms_)) return;
  found->witnessed = true;
  if (!found->alive) return;
  broke(rule::released_in_use, "the workload of version " + std::to_string(version) +
                                   " runs, and is said to have been seen dead");
}

void judge::believes_clean(std::size_t pod, const std::string& which, std::uint64_t version) {
  const term* const one = of(pod, which, version);
  // With several slots it may be the place of another one that is free.
  if (slots_of(which) > 1 || one == nullptr) return;
  // A restore that follows may put who held before it behind it, or back.
  if (one->came_clean || was_left_clean(*one) || has_missed_a_restore(pod, which)) return;
  // A restore may bring a key back, or a version of before under the same key. Its agent has seen
  // that version and gives the grant back; if it does not, its workload starts too early.
  const seen_versions& seen = seen_[{pod, which}];
  if (one->is_back || version <= std::max(seen.granted, seen.of_others)) return;
  broke(rule::clean_without_release,
        "pod " + std::to_string(pod) + " in version " + std::to_string(version));
}

/// Who lost its key to an operator, or to a restore, learns of it when its watch does; and so does
/// who was granted the lease then, when a restore brings that key back. Another client may be wrong
/// about the end of its lease.
void judge::check_beside(const running_one& starts, const std::string& who) {
  const auto& all = running_[starts.of->which];
  const auto counts = [&](const running_one& other) {
    if (was_taken_away(*other.of)) return false;
    if (other.of->is_back && starts.of->sent_at < other.of->placed_at) return false;
    // Another client may not look again, and not learn that a restore has put it behind others.
    return other.foreign ? other.of->erased_at == sim::world_never && !is_put_behind(*other.of)
                         : lives_by_mistake(other.pod, other.of->version);
  };
  if (was_taken_away(*starts.of)) return;
  for (const running_one& other : all) {
    if (starts.foreign || other.foreign || other.of->slot != starts.of->slot || !counts(other)) {
      continue;
    }
    if (slots_of(starts.of->which) > 1) {
      broke(rule::slot_twice, who + " and pod " + std::to_string(other.pod) + " in slot " +
                                  std::to_string(starts.of->slot));
    }
  }
  const auto beside = std::ranges::count_if(all, counts);
  if (static_cast<std::size_t>(beside) < slots_of(starts.of->which)) return;
  const auto& first = *std::ranges::find_if(all, counts);
  broke(rule::too_many_running,
        who + " beside " + std::to_string(beside) + ", " + (first.foreign ? "client " : "pod ") +
            std::to_string(first.pod) + " in version " + std::to_string(first.of->version));
}

void judge::starts(std::size_t pod, const std::string& which, std::uint64_t version, bool late,
                   world_time asked_at) {
  const std::string who = "pod " + std::to_string(pod) + " in version " + std::to_string(version);
  term* const one = of(pod, which, version);
  if (one == nullptr) return broke(rule::started_without_lease, who + ", which it was not granted");
  const running_one starting{.pod = pod, .of = one};
  if (late) {
    say(who + " starts a workload of " + which + ", late");
    running_[which].push_back(starting);
    one->started_at = world_.now;
    one->alive = true;
    return;
  }
  if (one->erased_at <= world_.now && !was_taken_away(*one)) {
    broke(rule::started_without_lease, who + ", which is over");
  }
  check_beside(starting, who);
  // A restore has put who held before it behind it. One that it has brought back has waited before.
  const bool is_of_present = !was_taken_away(*one);
  if (slots_of(which) == 1 && is_of_present && !one->is_back && has_predecessor(*one) &&
      !was_left_clean(*one) && !has_missed_a_restore(pod, which) &&
      world_.now < one->created_at + lock_delay_) {
    broke(rule::started_too_early, who);
  }
  auto& highest = highest_[which];
  const bool goes_on = version == highest.version && pod == highest.pod;
  // A guard that stood still meanwhile.
  const bool is_asked_before =
      (one->is_back && asked_at < one->placed_at) || has_not_read_of(*one, pod, asked_at);
  // A restore has given the key back to a member whose agent and guard began since the larger one.
  const bool knows_none_larger = one->is_back && seen_[{pod, which}].largest() <= version;
  if (slots_of(which) == 1 && version <= highest.version && !goes_on && is_of_present &&
      !is_asked_before && !knows_none_larger) {
    broke(rule::version_not_larger, who + " after version " + std::to_string(highest.version));
  }
  // What was taken away goes on for a moment.
  if (version > highest.version && is_of_present) highest = {.version = version, .pod = pod};
  ++entered_;
  say(who + " starts a workload of " + which);
  running_[which].push_back(starting);
  one->started_at = world_.now;
  one->alive = true;
}

void judge::foreign_starts(std::size_t client, const std::string& which, const std::string& key,
                           const std::string& owner) {
  // A Lease keeps its key when it goes to another, as to a member that an operator has put back, or
  // to another client while this one has not heard yet that it was granted.
  const auto found = std::ranges::find_if(present_, [&](const auto& one) {
    const term& of = *one.second;
    return of.key == key && !of.granted_to && (owner.empty() || of.owner == owner);
  });
  // It may be gone since the client has looked.
  if (found == present_.end()) return;
  const std::string who =
      "client " + std::to_string(client) + " in version " + std::to_string(found->first);
  const running_one starting{.pod = client, .of = found->second, .foreign = true};
  check_beside(starting, who);
  say(who + " holds " + which);
  running_[which].push_back(starting);
  found->second->alive = true;
}

void judge::ends(std::size_t pod, const std::string& which, std::uint64_t version) {
  auto& all = running_[which];
  say("the workload of " + which + " in pod " + std::to_string(pod) + " in version " +
      std::to_string(version) + " is dead");
  std::erase_if(all, [&](const running_one& one) {
    const bool ended = one.pod == pod && one.of->version == version;
    if (ended) one.of->alive = false;
    return ended;
  });
}

void judge::all_end(std::size_t pod) {
  for (auto& [which, all] : running_) {
    std::erase_if(all, [&](const running_one& one) {
      if (one.pod == pod) one.of->alive = false;
      return one.pod == pod;
    });
  }
}

world_time judge::changed_at(const std::string& which) const {
  const auto found = changed_.find(which);
  return found == changed_.end() ? world_time{} : found->second;
}

std::size_t judge::running(const std::string& which) const {
  const auto found = running_.find(which);
  return found == running_.end() ? 0 : found->second.size();
}

}  // namespace tenure::shell
