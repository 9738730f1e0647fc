#include "agent.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>
#include <vector>

namespace tenure::sim {
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
                  .checked_always = s.drawn.checked_always[e],
                  .succeeds = {.priority = s.drawn.priority[pod],
                               .started_unix_ms = unix_ms_at(s.now),
                               .prefer_newer = s.drawn.prefer_newer,
                               .preempt = s.drawn.preempt}});
  }
  s.judge.agent_began(pod, &machine_, clock);
}

void agent::start(bool session_was_used) {
  for (std::size_t e = 0; e < stage_.drawn.elections; ++e) {
    const core::version last = session_was_used ? guards_[e].granted() : core::no_version;
    if (const auto left = guards_[e].left_behind()) {
      stage_.note("pod %u/%zu: finds the workload of %llu", pod_, e, digits(left->version));
      stage_.judge.found(pod_, e, *left);
      step(e, *left);
      if (last > left->version) stage_.judge.saw_version(pod_, e, last);
    } else {
      stage_.judge.saw_version(pod_, e, last);
    }
    step(e, core::event::started{.session_was_used = session_was_used, .last_term = last});
  }
}

// --- events ------------------------------------------------------------------------------------

void agent::step(std::size_t e, const core::election_event& what) {
  now_ = clock_.local(stage_.now);
  stage_.judge.stepped(stage_.now, pod_);
  machine_.step(moment(), place(e), what, effects_);
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
  if (std::holds_alternative<core::event::resume>(what)) stage_.judge.resumed(pod_, e);
  step(e, what);
}

void agent::hears(const entry& e) {
  const core::version version{static_cast<std::uint64_t>(e.value)};
  if (static_cast<report>(e.detail) == report::started) {
    step(e.election, core::event::workload_started{version});
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
      released(m);
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

// --- commands ----------------------------------------------------------------------------------

void agent::carry_out() {
  for (const core::addressed& c : effects_.commands) {
    std::visit([&](const auto& what) { carry_out(core::place(c.which), what); }, c.what);
  }
  if (effects_.renew) renew(*effects_.renew);
  effects_.clear();
  set_timer();
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
