#include <algorithm>
#include <utility>
#include <vector>

#include "agent.hpp"

/// What the store's client makes of the store's answers and of the watch.
namespace tenure::sim {

void agent::granted(const message& m) {
  now_ = clock_.local(stage_.now);
  const client& c = clients_[m.election];
  const bool in_time = m.number == c.acquire && now_ < c.deadline;
  stage_.note("pod %u/%u: granted %llu%s", pod_, m.election, digits(m.version),
              m.number == c.acquire ? "" : " (to an older try)");
  guards_[m.election].note_grant(m.version);
  const core::phase phase = machine_.at(place(m.election)).view().phase;
  const bool adopting = machine_.at(place(m.election)).adopting();
  // What it has found is to be stopped by then, and no answer changes that.
  const bool too_late = adopting && guards_[m.election].must_stop_at() <= now_;
  // Nor does an answer count whose try has been given up: that is done first (docs/safety.md, 4).
  if (in_time && phase == core::phase::candidate && !too_late) {
    stage_.judge.began_term(stage_.now, pod_, m.election, m.version, m.sent_at, m.ttl);
    stage_.judge.acknowledged(stage_.now, pod_, m.election, m.version, m.sent_at, m.ttl, true);
    if (adopting && m.version != guards_[m.election].version()) {
      // What runs is of another term, which must be over: a reason to end.
      stage_.judge.told_lost(stage_.now, pod_, m.election, m.version, true);
    }
  }
  step(m.election, core::event::granted{.number = m.number,
                                        .version = m.version,
                                        .sequencer = {},
                                        .ttl = m.ttl,
                                        .sent_at = m.sent_at,
                                        .released_cleanly = m.clean});
}

void agent::refused(const message& m) {
  now_ = clock_.local(stage_.now);
  core::time_point retry_at = core::never;
  if (keeps_records()) {
    saw_record(m);
    retry_at = m.count == 0 ? now_ : clients_[m.election].judge.expires_at();
  } else if (m.retry_in != core::duration::max()) {
    retry_at = now_ + m.retry_in;
  }
  if (machine_.at(place(m.election)).adopting()) {
    stage_.judge.told_lost(stage_.now, pod_, m.election, guards_[m.election].version(), true);
  }
  step(m.election, core::event::refused{.number = m.number, .retry_at = retry_at});
}

void agent::renewed(const message& m) {
  now_ = clock_.local(stage_.now);
  // The second copy of an answer may say what the first did not; nobody listens to it.
  const bool awaited = m.number == renewal_;
  const bool in_time = awaited && now_ < renewal_deadline_;
  if (awaited) renewal_ = {};
  std::vector<core::renewal_loss> lost;
  for (std::size_t i = 0; i < m.count; ++i) {
    const renewal_entry& item = m.items[i];
    if (item.lost) {
      stage_.note("pod %u/%u: told that %llu is lost", pod_, item.election, digits(item.version));
      lost.push_back({.which = place(item.election),
                      .why = item.why,
                      .room = item.delayed ? stage_.drawn.store_lock_delay : core::duration{}});
      if (awaited) {
        stage_.judge.told_lost(stage_.now, pod_, item.election, item.version, in_time);
      }
    } else if (awaited) {
      stage_.judge.acknowledged(stage_.now, pod_, item.election, item.version, m.sent_at, m.ttl,
                                in_time);
    }
  }
  stage_.judge.stepped(stage_.now, pod_);
  machine_.renewed(moment(), m.number, {.sent_at = m.sent_at, .ttl = m.ttl, .lost = lost},
                   effects_);
  carry_out();
}

void agent::shown(const message& m) {
  if (m.stream != clients_[m.election].stream) return;
  now_ = clock_.local(stage_.now);
  core::observation& seen = std::get<core::event::observed>(observed_).what;
  seen.as_of = m.as_of;
  seen.holders.resize(m.count);
  bool mine = false;
  const core::election& one = machine_.at(place(m.election));
  // A term that it holds, or one whose workload it has found.
  const core::version version = one.adopting()     ? guards_[m.election].version()
                                : one.view().lease ? one.view().lease->version
                                                   : core::no_version;
  for (std::size_t i = 0; i < m.count; ++i) {
    seen.holders[i].identity = stage_.identities[m.holders[i].identity].name;
    seen.holders[i].version = m.holders[i].version;
    seen.holders[i].ours = m.holders[i].identity == identity_;
    mine = mine || (seen.holders[i].ours && version == m.holders[i].version);
    if (stage_.drawn.slots[m.election] == 1 && m.holders[i].identity != identity_) {
      stage_.judge.saw_version(pod_, m.election, m.holders[i].version);
    }
  }
  const auto own = std::ranges::find(seen.holders, true, &core::holder::ours);
  stage_.judge.saw_state(pod_, m.election, m.as_of,
                         own != seen.holders.end() ? own->version : core::no_version);
  if (version != core::no_version && !mine && m.as_of >= version) {
    stage_.note("pod %u/%u: the watch shows that %llu is lost", pod_, m.election, digits(version));
    stage_.judge.told_lost(stage_.now, pod_, m.election, version, true);
  }
  seen.retry_at = core::never;
  if (keeps_records()) {
    saw_record(m);
    if (m.count > 0) seen.retry_at = clients_[m.election].judge.expires_at();
  } else if (m.retry_in != core::duration::max()) {
    seen.retry_at = now_ + m.retry_in;
  }
  seen.members.reset();
  if (stage_.drawn.lists_members) {
    std::vector<core::member> all;
    for (const listed& one : m.members) {
      if (!one.is_there) continue;
      all.push_back({.identity = stage_.identities[one.identity].name, .says = one.says});
    }
    seen.members.emplace(std::move(all));
  }
  step(m.election, observed_);
}

void agent::failed(const message& m) {
  now_ = clock_.local(stage_.now);
  switch (m.was) {
    case mail::renew:
      if (m.number == renewal_) renewal_ = {};
      stage_.judge.stepped(stage_.now, pod_);
      machine_.renewal_unknown(moment(), m.number, effects_);
      carry_out();
      break;
    case mail::ask_own:
    case mail::release:
      step(m.election, core::event::release_unknown{m.number});
      break;
    case mail::open_watch:
      if (m.stream == clients_[m.election].stream) {
        step(m.election, core::event::watch_failed{});
      }
      break;
    default:
      if (m.number == clients_[m.election].acquire) clients_[m.election].acquire = {};
      step(m.election, core::event::acquire_unknown{m.number});
      break;
  }
}

void agent::told_own(const message& m) {
  now_ = clock_.local(stage_.now);
  client& mine = clients_[m.election];
  if (m.number != mine.release || now_ >= mine.release_deadline) return;
  // The second copy of the question may have been answered after a later grant.
  if (!std::exchange(mine.asks_own, false)) return;
  if (m.version == core::no_version) {
    released(m);
  } else {
    release(m.election, m.version);
  }
}

void agent::released(const message& m) {
  if (m.number == clients_[m.election].release) stage_.judge.release_answered(pod_, m.election);
  step(m.election, core::event::released{m.number});
}

void agent::saw_record(const message& m) {
  now_ = clock_.local(stage_.now);
  client& mine = clients_[m.election];
  if (mine.known && m.mark < mine.record.mark) return;
  mine.known = true;
  mine.record = m;
  if (m.count > 0) mine.judge.saw(now_, m.mark, m.ttl);
}

}  // namespace tenure::sim
