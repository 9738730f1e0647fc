#include "judge.hpp"

#include <algorithm>
#include <cstdio>

namespace tenure::shell {
namespace {

/// "db0" of "db0/5f…"; empty for what is not a contender.
std::string election_of(const std::string& key) {
  const auto slash = key.find('/');
  const std::string before = key.substr(0, slash);
  return slash == std::string::npos || before.contains('.') ? std::string() : before;
}

}  // namespace

const char* name(rule r) {
  switch (r) {
    case rule::none:
      return "none";
    case rule::guard:
      return "guard";
    case rule::too_many_running:
      return "too_many_running";
    case rule::outlives_lease:
      return "outlives_lease";
    case rule::started_without_lease:
      return "started_without_lease";
    case rule::started_too_early:
      return "started_too_early";
    case rule::version_not_larger:
      return "version_not_larger";
    case rule::believed_what_is_not:
      return "believed_what_is_not";
    case rule::believed_what_was_gone:
      return "believed_what_was_gone";
    case rule::believed_beyond_promise:
      return "believed_beyond_promise";
    case rule::clean_without_release:
      return "clean_without_release";
    case rule::granted_while_held:
      return "granted_while_held";
    case rule::released_in_use:
      return "released_in_use";
    case rule::shows_what_is_not:
      return "shows_what_is_not";
    case rule::campaigns_while_paused:
      return "campaigns_while_paused";
    case rule::campaigns_while_aside:
      return "campaigns_while_aside";
    case rule::campaigns_while_unhealthy:
      return "campaigns_while_unhealthy";
    case rule::no_holder:
      return "no_holder";
    case rule::busy_loop:
      return "busy_loop";
  }
  return "unknown";
}

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

void judge::created(const std::string& key, std::uint64_t revision, std::int64_t lease) {
  const std::string which = election_of(key);
  if (which.empty()) return;
  changed_[which] = world_.now;
  terms_[revision] = {.which = which, .lease = lease, .created_at = world_.now};
  say(key + " is there in version " + std::to_string(revision));
}

void judge::erased(const std::string& key, std::uint64_t create_revision, erased_by how) {
  const std::string which = election_of(key);
  if (which.empty()) return;
  changed_[which] = world_.now;
  term& one = terms_[create_revision];
  one.erased_at = world_.now;
  one.how = how;
  const std::string version = std::to_string(create_revision);
  say(key + " of version " + version +
      (how == erased_by::transaction ? " is released"
       : how == erased_by::expiry    ? " has run out"
                                     : " is taken away"));
  if (how == erased_by::expiry) {
    for (const running_one& running : running_[which]) {
      if (running.version != create_revision) continue;
      if (!lives_by_mistake(running.pod, running.version)) continue;
      broke(rule::outlives_lease, "pod " + std::to_string(running.pod) + " in version " + version);
    }
  }
  if (how != erased_by::transaction) return;
  if (one.alive) broke(rule::released_in_use, "the workload of version " + version + " runs");
  if (const auto pod = in_use_by(create_revision)) {
    broke(rule::released_in_use, "pod " + std::to_string(*pod) + " is in version " + version);
  }
}

void judge::believes(std::size_t pod, const std::string& which, std::uint64_t version,
                     world_time sent_at, core::duration ttl, const modelled_etcd& of) {
  const std::string who = "pod " + std::to_string(pod) + " in version " + std::to_string(version);
  say(who + " believes in it until " +
      std::to_string(
          std::chrono::duration<double>((sent_at + ttl).time_since_epoch() - std::chrono::hours(1))
              .count()));
  const auto found = terms_.find(version);
  if (found == terms_.end() || found->second.which != which) {
    return broke(rule::believed_what_is_not, who + " of " + which);
  }
  const term& one = found->second;
  if (one.erased_at < sent_at) {
    const auto ago = std::chrono::duration<double>(sent_at - one.erased_at).count();
    return broke(rule::believed_what_was_gone,
                 who + ": the key was gone " + std::to_string(ago) + " s before");
  }
  const world_time until = sent_at + ttl;
  if (of.promised(one.lease) < until) {
    const auto more = std::chrono::duration<double>(until - of.promised(one.lease)).count();
    broke(rule::believed_beyond_promise, who + ": by " + std::to_string(more) + " s");
  }
}

void judge::granted(std::size_t pod, const std::string& which, std::uint64_t version) {
  terms_[version].granted_to = pod;
  const world_time at = terms_[version].created_at;
  const auto held = std::ranges::count_if(terms_, [&](const auto& other) {
    return other.first < version && other.second.which == which && other.second.erased_at > at;
  });
  if (static_cast<std::size_t>(held) < slots_) return;
  broke(rule::granted_while_held, "pod " + std::to_string(pod) + " in version " +
                                      std::to_string(version) + ": " + std::to_string(held) +
                                      " held it");
}

/// The newest term before this one; null: there is none.
const judge::term* judge::before(std::uint64_t version, const std::string& which) const {
  const term* out = nullptr;
  for (const auto& [number, one] : terms_) {
    if (number >= version) break;
    if (one.which == which) out = &one;
  }
  return out;
}

void judge::believes_clean(std::size_t pod, const std::string& which, std::uint64_t version) {
  const term* last = before(version, which);
  // With several slots it may be the place of another one that is free.
  if (slots_ > 1 || last == nullptr) return;
  if (last->how == erased_by::transaction && last->clean) return;
  broke(rule::clean_without_release,
        "pod " + std::to_string(pod) + " in version " + std::to_string(version));
}

void judge::check_lease(std::size_t pod, const std::string& which, std::uint64_t version) {
  const auto found = terms_.find(version);
  const bool granted =
      found != terms_.end() && found->second.which == which && found->second.granted_to == pod;
  const bool over =
      granted && found->second.erased_at <= world_.now && found->second.how != erased_by::somebody;
  if (granted && !over) return;
  broke(rule::started_without_lease,
        "pod " + std::to_string(pod) + " in version " + std::to_string(version) +
            (granted ? ", which is over" : ", which it was not granted"));
}

void judge::starts(std::size_t pod, const std::string& which, std::uint64_t version, bool late) {
  auto& all = running_[which];
  const std::string who = "pod " + std::to_string(pod) + " in version " + std::to_string(version);
  // Who lost its key to an operator learns of it when its watch does.
  const auto was_taken_away = [&](std::uint64_t number) {
    const term& one = terms_[number];
    return one.how == erased_by::somebody && one.erased_at <= world_.now;
  };
  if (late) {
    say(who + " starts a workload of " + which + ", late");
    all.push_back({.pod = pod, .version = version});
    terms_[version].alive = true;
    return;
  }
  check_lease(pod, which, version);
  const auto beside = std::ranges::count_if(all, [&](const running_one& other) {
    return !was_taken_away(other.version) && lives_by_mistake(other.pod, other.version);
  });
  if (static_cast<std::size_t>(beside) >= slots_ && !was_taken_away(version)) {
    broke(rule::too_many_running, who + " beside " + std::to_string(beside) + ", pod " +
                                      std::to_string(all.front().pod) + " in version " +
                                      std::to_string(all.front().version));
  }
  const term* last = before(version, which);
  const bool had_released = last != nullptr && last->how == erased_by::transaction && last->clean;
  if (slots_ == 1 && last != nullptr && !had_released &&
      world_.now < terms_[version].created_at + lock_delay_) {
    broke(rule::started_too_early, who);
  }
  auto& highest = highest_[which];
  const bool goes_on = version == highest.version && pod == highest.pod;
  if (slots_ == 1 && version <= highest.version && !goes_on && !was_taken_away(version)) {
    broke(rule::version_not_larger, who + " after version " + std::to_string(highest.version));
  }
  if (version > highest.version) highest = {.version = version, .pod = pod};
  ++entered_;
  say(who + " starts a workload of " + which);
  all.push_back({.pod = pod, .version = version});
  terms_[version].alive = true;
}

/// Who is to hold next is named in the store, and not forgotten.
void judge::begins_anew(std::size_t pod) {
  began_[pod] = world_.now;
  for (auto& [of, one] : aside_) {
    if (of.first == pod) one = {.heir_until = one.heir_until};
  }
}

void judge::campaigns(std::size_t pod, const std::string& which, bool ill) {
  const std::string who = "pod " + std::to_string(pod) + " of " + which;
  if (ill) broke(rule::campaigns_while_unhealthy, who);
  const auto found = aside_.find({pod, which});
  if (found == aside_.end()) return;
  const standing_aside& one = found->second;
  if (world_.now < one.resumed_until) return;
  if (world_.now > one.paused_from) broke(rule::campaigns_while_paused, who);
  if (world_.now < one.until && world_.now >= one.heir_until) {
    broke(rule::campaigns_while_aside, who);
  }
}

void judge::ends(std::size_t pod, const std::string& which, std::uint64_t version) {
  auto& all = running_[which];
  say("the workload of " + which + " in pod " + std::to_string(pod) + " in version " +
      std::to_string(version) + " is dead");
  terms_[version].alive = false;
  std::erase_if(all,
                [&](const running_one& one) { return one.pod == pod && one.version == version; });
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
