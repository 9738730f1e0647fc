#include <algorithm>
#include <chrono>

#include "agent.hpp"

/// Carries out what core wants done.
namespace tenure::sim {
namespace {

/// Share of renewals, and of campaigns, that faults lie in wait for.
constexpr std::uint32_t renewal_tempts_ppm = 100'000;
constexpr std::uint32_t campaign_tempts_ppm = 500'000;

}  // namespace

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
  news_.tempting = news_.tempting || stage_.dice.chance(campaign_tempts_ppm);
  // It may be the one that the lease is asked for.
  const bool may_run = guards_[e].may_run() && !machine_.at(place(e)).adopting();
  stage_.judge.campaigns(stage_.now, pod_, e, may_run);
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

void agent::carry_out(std::size_t e, const core::command::release& c) {
  stage_.note("pod %u/%zu: releases %llu", pod_, e, digits(c.version));
  stage_.judge.releases(stage_.now, pod_, e, guards_[e].may_run());
  news_.tempting = true;
  clients_[e].release = c.number;
  clients_[e].release_deadline = c.deadline;
  clients_[e].release_clean = c.clean;
  clients_[e].asks_own = c.version == core::no_version;
  if (c.version != core::no_version) {
    release(e, c.version);
    return;
  }
  // A late release without a version would end a newer grant.
  message m = request(mail::ask_own, e);
  m.number = c.number;
  network_.to_store(m);
}

void agent::release(std::size_t e, core::version version) {
  message m = request(mail::release, e);
  m.number = clients_[e].release;
  m.version = version;
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
  stage_.judge.arms(stage_.now, pod_, e, c.version, c.kill_at);
  guards_[e].write_page(c.version, c.stop_at, c.kill_at);
  guards_[e].tell(order::armed);
}

void agent::carry_out(std::size_t e, const core::command::start_workload&) {
  stage_.judge.starts(stage_.now, pod_, e, guards_[e].may_run());
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

void agent::carry_out(std::size_t e, const core::command::announce& c) {
  if (!stage_.drawn.lists_members) return;
  const core::succession_settings& own = machine_.at(place(e)).settings().succeeds;
  message m = request(mail::say, e);
  m.members[0] = {.identity = identity_,
                  .is_there = true,
                  .says = {.since_unix_ms = c.ready ? unix_ms_at(stage_.now) : 0,
                           .priority = own.priority,
                           .started_unix_ms = own.started_unix_ms}};
  network_.to_store(m);
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
    m.items[m.count++] = {.version = item.version,
                          .election = static_cast<std::uint8_t>(core::place(item.which))};
  }
  network_.to_store(m);
}

}  // namespace tenure::sim
