#include "guarded_workload.hpp"

#include <algorithm>

namespace tenure::sim {
namespace {

using namespace std::chrono_literals;

/// Core repeats SIGKILL every 10 ms; a clock may be slow.
constexpr core::duration kill_round = 10'100us;
constexpr std::int64_t most_survivors = 2;

}  // namespace

void guarded_workload::tell(order what, core::time_point until) {
  ++unread_orders_;
  if (what == order::start) ++starts_under_way_;
  last_order_ =
      std::max(last_order_, stage_.now + stage_.dice.between(5us, stage_.drawn.socket_delay_most));
  entry e = to(happening::guard_told);
  e.at = last_order_;
  e.detail = static_cast<std::uint8_t>(what);
  e.stamp = container_;
  e.value = until.time_since_epoch().count();
  stage_.events.add(e);
}

void guarded_workload::told(const entry& e, std::uint32_t agent) {
  if (e.stamp != container_) return;
  --unread_orders_;
  const core::time_point now = local_now();
  const core::time_point until{core::duration(e.value)};
  switch (static_cast<order>(e.detail)) {
    case order::armed:
      carry_out(guard_.armed(now, page_stop_at_, page_kill_at_), agent);
      break;
    case order::start:
      --starts_under_way_;
      carry_out(guard_.start_asked(now, page_term_), agent);
      break;
    case order::stop:
      told_to_stop_ = true;
      carry_out(guard_.stop_asked(now, until), agent);
      break;
  }
  set_timer();
}

std::optional<core::event::workload_found> guarded_workload::left_behind() const {
  if (guard_.current() == core::guard::state::empty) return std::nullopt;
  return core::event::workload_found{.version = guard_.version(),
                                     .stop_at = page_stop_at_,
                                     .kill_at = page_kill_at_,
                                     .stopping = guard_.current() != core::guard::state::running};
}

void guarded_workload::timer(std::uint32_t agent) {
  if (timer_at_ > stage_.now) return;
  timer_at_ = world_never;
  if (guard_.current() != core::guard::state::empty) {
    const core::time_point now = local_now();
    const core::guard_actions todo = guard_.armed(now, page_stop_at_, page_kill_at_);
    if (!told_to_stop_ &&
        ((todo.kill && now < page_kill_at_) || (todo.terminate && now < page_stop_at_))) {
      stage_.judge.violated(rule::killed_without_cause, stage_.now, pod_, election_);
    }
    carry_out(todo, agent);
  }
  set_timer();
}

void guarded_workload::carry_out(const core::guard_actions& todo, std::uint32_t agent) {
  if (todo.kill) kill();
  if (todo.terminate) terminate();
  if (todo.start) begin(agent);
  if (todo.refused) report_to(agent, report::exited);
}

void guarded_workload::begin(std::uint32_t agent) {
  const mix& m = stage_.drawn;
  if (!stage_.quiet && stage_.dice.chance(m.start_fails_ppm)) {
    stage_.note("pod %u/%u: workload cannot be started", pod_, election_);
    guard_.emptied();
    report_to(agent, report::exited);
    return;
  }
  ++instance_;
  alive_ = true;
  told_to_stop_ = false;
  dies_at_ = world_never;
  ignores_term_ = stage_.dice.chance(m.ignores_term_ppm);
  const std::int64_t room = m.kill_takes_most / kill_round;
  survivors_ =
      static_cast<std::uint32_t>(stage_.dice.between(0, std::min(room / 2, most_survivors)));
  kill_takes_ = stage_.dice.between(1ms, m.kill_takes_most - survivors_ * kill_round);
  stage_.note("pod %u/%u: workload starts under %llu", pod_, election_,
              static_cast<unsigned long long>(core::number(guard_.version())));
  stage_.judge.workload_began(stage_.now, pod_, election_, guard_.version(),
                              kill_takes_ + survivors_ * kill_round);
  report_to(agent, report::started);
  write_soon();
}

void guarded_workload::write_soon() {
  entry write = to(happening::workload_writes);
  write.stamp = ++writer_;
  stage_.after(1us, write);
}

void guarded_workload::kill() {
  if (!alive_) return;
  if (survivors_ > 0) {
    --survivors_;
    return;
  }
  die_in(kill_takes_);
}

void guarded_workload::terminate() {
  stage_.note("pod %u/%u: SIGTERM", pod_, election_);
  told_to_stop_ = true;
  if (!ignores_term_) die_in(stage_.dice.spread(1ms, stage_.drawn.stops_within));
}

void guarded_workload::die_in(core::duration delay) {
  if (!alive_ || stage_.now + delay >= dies_at_) return;
  dies_at_ = stage_.now + delay;
  entry e = to(happening::workload_dies);
  e.stamp = instance_;
  stage_.after(delay, e);
}

void guarded_workload::exits() {
  if (alive_) die_in(1us);
}

void guarded_workload::died(const entry& e, std::uint32_t agent) {
  if (!alive_ || e.stamp != instance_) return;
  stage_.note("pod %u/%u: workload is dead", pod_, election_);
  alive_ = false;
  stage_.judge.workload_ended(stage_.now, pod_, election_);
  guard_.emptied();
  report_to(agent, report::exited);
}

void guarded_workload::destroyed() {
  if (alive_) stage_.judge.workload_ended(stage_.now, pod_, election_);
  alive_ = false;
  unread_orders_ = 0;
  starts_under_way_ = 0;
  ++container_;
  guard_ = {};
  page_stop_at_ = page_kill_at_ = {};
  granted_ = core::no_version;
  timer_at_ = world_never;
}

void guarded_workload::thawed() {
  if (alive_) write_soon();
  timer_at_ = world_never;
  set_timer();
}

void guarded_workload::report_to(std::uint32_t agent, report what) {
  last_report_ =
      std::max(last_report_, stage_.now + stage_.dice.between(5us, stage_.drawn.socket_delay_most));
  entry e = to(happening::agent_hears);
  e.at = last_report_;
  e.detail = static_cast<std::uint8_t>(what);
  e.stamp = agent;
  e.value = static_cast<std::int64_t>(core::number(page_term_));
  stage_.events.add(e);
}

void guarded_workload::writes(const entry& e, bool is_holder) {
  if (!alive_ || e.stamp != writer_) return;
  stage_.judge.wrote(stage_.now, pod_, election_, guard_.version(), is_holder);
  stage_.after(stage_.drawn.when.ttl, e);
}

void guarded_workload::set_timer() {
  const core::time_point wanted = guard_.next_wake();
  if (wanted == core::never) return;
  const world_time at = std::max(clock_.world(wanted), stage_.now);
  if (at >= timer_at_) return;
  timer_at_ = at;
  entry e = to(happening::guard_timer);
  e.at = at;
  stage_.events.add(e);
}

}  // namespace tenure::sim
