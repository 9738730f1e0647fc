#include "agent.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>
#include <vector>

namespace tenure::sim {
namespace {

core::election_index index(std::size_t e) {
  return core::election_index{static_cast<std::uint32_t>(e)};
}

/// Share of renewals that faults lie in wait for.
constexpr std::uint32_t renewal_tempts_ppm = 100'000;

unsigned long long digits(core::version v) {
  return core::number(v);
}

}  // namespace

agent::agent(stage& s, network& n, machine_clock clock, std::uint8_t pod, std::uint16_t identity,
             std::uint32_t process, std::span<guarded_workload> guards)
    : stage_(s),
      network_(n),
      clock_(clock),
      pod_(pod),
      identity_(identity),
      process_(process),
      guards_(guards),
      machine_(s.drawn.when),
      observed_(core::event::observed{}) {
  for (std::size_t e = 0; e < s.drawn.elections; ++e) {
    machine_.add({.identity = s.identities[identity].name,
                  .when = s.drawn.when,
                  .slots = s.drawn.slots[e],
                  .campaigns = campaigns(),
                  .owns_workload = s.drawn.owns_workload[e],
                  .on_lost = s.drawn.on_lost,
                  .store_lock_delay = s.drawn.store_lock_delay});
  }
  s.judge.agent_began(pod, &machine_, clock);
}

void agent::start() {
  for (std::size_t e = 0; e < stage_.drawn.elections; ++e) step(e, core::event::started{});
}

// --- events ------------------------------------------------------------------------------------

void agent::step(std::size_t e, const core::election_event& what) {
  now_ = clock_.local(stage_.now);
  stage_.judge.stepped(stage_.now, pod_);
  machine_.step(moment(), index(e), what, effects_);
  carry_out();
}

void agent::timer() {
  if (timer_at_ > stage_.now) return;
  timer_at_ = world_never;
  now_ = clock_.local(stage_.now);
  if (machine_.next_wake() <= now_) {
    stage_.judge.stepped(stage_.now, pod_);
    machine_.wake(moment(), effects_);
    if (machine_.next_wake() <= now_) {
      stage_.judge.violated(rule::busy_loop, stage_.now, pod_, 0);
    }
    carry_out();
  } else {
    set_timer();
  }
}

void agent::tell(std::size_t e, const core::election_event& what, core::loss_reason why) {
  if (why != core::loss_reason::none) {
    stage_.note("pod %u/%zu: %s", pod_, e, core::name(why).data());
    stage_.judge.asked(pod_, e, why);
  }
  step(e, what);
}

void agent::hears(const entry& e) {
  const core::version term{static_cast<std::uint64_t>(e.value)};
  if (static_cast<report>(e.detail) == report::started) {
    step(e.election, core::event::workload_started{term});
    return;
  }
  stage_.judge.asked(pod_, e.election, core::loss_reason::workload_exited);
  step(e.election, core::event::workload_exited{});
}

void agent::stream_broke(const entry& e) {
  if (e.arg != clients_[e.election].stream) return;
  stage_.note("pod %u/%u: watch broke", pod_, e.election);
  step(e.election, core::event::watch_failed{});
}

void agent::receive(const message& m) {
  for (std::size_t e = 0; e < stage_.drawn.elections; ++e) {
    stage_.judge.check_claim(stage_.now, pod_, e);
  }
  switch (m.kind) {
    case mail::granted:
      granted(m);
      break;
    case mail::refused:
      refused(m);
      break;
    case mail::record:
      saw_record(m);
      if (m.number == clients_[m.election].acquire) try_record(m.election);
      break;
    case mail::renewed:
      renewed(m);
      break;
    case mail::own:
      told_own(m);
      break;
    case mail::released:
      step(m.election, core::event::released{m.number});
      break;
    case mail::shown:
      shown(m);
      break;
    case mail::failed:
      failed(m);
      break;
    default:
      break;
  }
}

void agent::granted(const message& m) {
  now_ = clock_.local(stage_.now);
  const client& c = clients_[m.election];
  const bool in_time = m.number == c.acquire && now_ < c.deadline;
  stage_.note("pod %u/%u: granted %llu%s", pod_, m.election, digits(m.term),
              m.number == c.acquire ? "" : " (to an older try)");
  const core::phase phase = machine_.at(index(m.election)).view().phase;
  if (m.number == c.acquire && phase == core::phase::candidate) {
    stage_.judge.began_term(pod_, m.election, m.term);
    stage_.judge.acknowledged(stage_.now, pod_, m.election, m.term, m.sent_at, m.ttl, in_time);
  }
  step(m.election, core::event::granted{.number = m.number,
                                        .term = m.term,
                                        .sequencer = {},
                                        .ttl = m.ttl,
                                        .sent_at = m.sent_at,
                                        .released_cleanly = m.clean});
  const core::election_view& view = machine_.at(index(m.election)).view();
  if (view.lease && view.lease->term == m.term) {
    stage_.judge.saw_version(pod_, m.election, m.term);
  }
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
  step(m.election, core::event::refused{.number = m.number, .retry_at = retry_at});
}

void agent::renewed(const message& m) {
  now_ = clock_.local(stage_.now);
  const bool in_time = m.number == renewal_ && now_ < renewal_deadline_;
  std::vector<core::renewal_loss> lost;
  for (std::size_t i = 0; i < m.count; ++i) {
    const renewal_entry& item = m.items[i];
    if (item.lost) {
      stage_.note("pod %u/%u: told that %llu is lost", pod_, item.election, digits(item.term));
      lost.push_back({index(item.election), item.why});
      if (m.number == renewal_) {
        stage_.judge.told_lost(stage_.now, pod_, item.election, item.term);
      }
    } else if (m.number == renewal_) {
      stage_.judge.acknowledged(stage_.now, pod_, item.election, item.term, m.sent_at, m.ttl,
                                in_time);
    }
  }
  stage_.judge.stepped(stage_.now, pod_);
  machine_.renewed(moment(), m.number, m.sent_at, m.ttl, lost, effects_);
  carry_out();
}

void agent::shown(const message& m) {
  if (m.stream != clients_[m.election].stream) return;
  now_ = clock_.local(stage_.now);
  core::observation& seen = std::get<core::event::observed>(observed_).what;
  seen.as_of = m.as_of;
  seen.holders.resize(m.count);
  bool mine = false;
  const core::election_view& view = machine_.at(index(m.election)).view();
  for (std::size_t i = 0; i < m.count; ++i) {
    seen.holders[i].identity = stage_.identities[m.holders[i].identity].name;
    seen.holders[i].term = m.holders[i].term;
    mine = mine || (view.lease && view.lease->term == m.holders[i].term);
    if (stage_.drawn.slots[m.election] == 1 && m.holders[i].identity != identity_) {
      stage_.judge.saw_version(pod_, m.election, m.holders[i].term);
    }
  }
  if (view.lease && !mine && m.as_of >= view.lease->term) {
    stage_.note("pod %u/%u: the watch shows that %llu is lost", pod_, m.election,
                digits(view.lease->term));
    stage_.judge.told_lost(stage_.now, pod_, m.election, view.lease->term);
  }
  seen.retry_at = core::never;
  if (keeps_records()) {
    saw_record(m);
    if (m.count > 0) seen.retry_at = clients_[m.election].judge.expires_at();
  } else if (m.retry_in != core::duration::max()) {
    seen.retry_at = now_ + m.retry_in;
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

// --- commands ----------------------------------------------------------------------------------

void agent::carry_out() {
  for (const core::addressed& c : effects_.commands) {
    std::visit([&](const auto& what) { carry_out(core::place(c.which), what); }, c.what);
  }
  if (effects_.renew) renew(*effects_.renew);
  effects_.clear();
  set_timer();
}

message agent::request(mail kind, std::size_t e) const {
  message m;
  m.kind = kind;
  m.pod = pod_;
  m.election = static_cast<std::uint8_t>(e);
  m.identity = identity_;
  m.process = process_;
  m.sent_at = now_;
  m.ttl = stage_.drawn.granted_ttl();
  return m;
}

void agent::carry_out(std::size_t e, const core::command::acquire& c) {
  stage_.note("pod %u/%zu: acquires", pod_, e);
  stage_.judge.campaigns(stage_.now, pod_, e, guards_[e].may_run());
  client& mine = clients_[e];
  mine.acquire = c.number;
  mine.deadline = c.deadline;
  mine.above = c.above;
  if (keeps_records()) {
    if (mine.known) {
      try_record(e);
      return;
    }
    message m = request(mail::read, e);
    m.number = c.number;
    network_.to_store(m);
    return;
  }
  message m = request(mail::acquire, e);
  m.number = c.number;
  network_.to_store(m);
}

/// Takes the record over if it is free, ours, or has not changed for its TTL.
void agent::try_record(std::size_t e) {
  now_ = clock_.local(stage_.now);
  const client& mine = clients_[e];
  const bool free = mine.record.count == 0;
  const bool ours = !free && mine.record.holders[0].identity == identity_;
  if (!free && !ours && now_ < mine.judge.expires_at()) {
    // Known without asking; but no answer comes from within the call that asks.
    message m = mine.record;
    m.kind = mail::refused;
    m.pod = pod_;
    m.number = mine.acquire;
    stage_.after(std::chrono::microseconds(1), {.what = happening::agent_receives,
                                                .pod = pod_,
                                                .stamp = process_,
                                                .arg = stage_.letters.add(m)});
    return;
  }
  message m = request(mail::acquire, e);
  m.number = mine.acquire;
  m.above = mine.above;
  m.mark = mine.record.mark;
  network_.to_store(m);
}

void agent::saw_record(const message& m) {
  now_ = clock_.local(stage_.now);
  client& mine = clients_[m.election];
  if (mine.known && m.mark < mine.record.mark) return;
  mine.known = true;
  mine.record = m;
  if (m.count > 0) mine.judge.saw(now_, m.mark, m.ttl);
}

void agent::carry_out(std::size_t e, const core::command::release& c) {
  stage_.note("pod %u/%zu: releases %llu", pod_, e, digits(c.term));
  stage_.judge.releases(stage_.now, pod_, e, guards_[e].may_run());
  clients_[e].release = c.number;
  clients_[e].release_deadline = c.deadline;
  clients_[e].release_clean = c.clean;
  if (c.term != core::no_version) {
    release(e, c.term);
    return;
  }
  // A blind release that is late would hit whatever is granted meanwhile.
  message m = request(mail::ask_own, e);
  m.number = c.number;
  network_.to_store(m);
}

void agent::told_own(const message& m) {
  now_ = clock_.local(stage_.now);
  const client& mine = clients_[m.election];
  if (m.number != mine.release || now_ >= mine.release_deadline) return;
  if (m.term == core::no_version) {
    step(m.election, core::event::released{m.number});
  } else {
    release(m.election, m.term);
  }
}

void agent::release(std::size_t e, core::version term) {
  message m = request(mail::release, e);
  m.number = clients_[e].release;
  m.term = term;
  m.clean = clients_[e].release_clean;
  network_.to_store(m);
}

void agent::carry_out(std::size_t e, const core::command::watch& c) {
  entry open{.at = std::max(stage_.now, clock_.world(c.not_before)),
             .what = happening::watch_opens,
             .pod = pod_,
             .election = static_cast<std::uint8_t>(e),
             .stamp = process_};
  stage_.events.add(open);
}

void agent::open_watch(std::size_t e) {
  now_ = clock_.local(stage_.now);
  // Streams are numbered over all processes, so that the store never takes one for another.
  clients_[e].stream = std::max(clients_[e].stream + 1, process_ << 16U);
  message m = request(mail::open_watch, e);
  m.stream = clients_[e].stream;
  network_.to_store(m);
}

void agent::carry_out(std::size_t e, const core::command::arm& c) {
  stage_.judge.arms(stage_.now, pod_, e, c.term, c.kill_at);
  guards_[e].write_page(c.term, c.kill_at);
  guards_[e].tell(order::armed);
}

void agent::carry_out(std::size_t e, const core::command::start_workload& c) {
  stage_.judge.starts(stage_.now, pod_, e, c.term, guards_[e].may_run());
  guards_[e].tell(order::start);
}

void agent::carry_out(std::size_t e, const core::command::stop_workload& c) {
  stage_.note("pod %u/%zu: stops its workload within %.3f s", pod_, e,
              std::chrono::duration<double>(c.kill_by - now_).count());
  guards_[e].tell(order::stop, c.kill_by);
}

void agent::carry_out(std::size_t e, const core::command::transition& c) {
  stage_.note("pod %u/%zu: %s -> %s (%s)", pod_, e, core::name(c.from).data(),
              core::name(c.to).data(), core::name(c.why).data());
  stage_.judge.changes(stage_.now, pod_, e, c);
  news_.tempting = true;
}

void agent::carry_out(std::size_t e, const core::command::finished&) {
  stage_.note("pod %u/%zu: finished", pod_, e);
  ++finished_;
  news_.finished = true;
}

void agent::renew(const core::command::renew& c) {
  news_.tempting = news_.tempting || stage_.dice.chance(renewal_tempts_ppm);
  renewal_ = c.number;
  renewal_deadline_ = c.deadline;
  message m = request(mail::renew, 0);
  m.number = c.number;
  for (const core::renewal_item& item : machine_.renewing()) {
    m.items[m.count++] = {.term = item.term,
                          .election = static_cast<std::uint8_t>(core::place(item.which))};
  }
  network_.to_store(m);
}

// --- time --------------------------------------------------------------------------------------

void agent::set_timer() {
  const core::time_point wanted = machine_.next_wake();
  if (wanted == core::never) return;
  const world_time at = std::max(clock_.world(wanted), stage_.now);
  if (at >= timer_at_) return;
  timer_at_ = at + stage_.dice.between(core::duration{}, stage_.drawn.timer_lag_most);
  stage_.events.add(
      {.at = timer_at_, .what = happening::agent_wakes, .pod = pod_, .stamp = process_});
}

void agent::continued() {
  timer_at_ = world_never;
  set_timer();
}

news agent::take_news() {
  return std::exchange(news_, {});
}

}  // namespace tenure::sim
