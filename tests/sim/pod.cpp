#include "pod.hpp"

#include <algorithm>
#include <utility>

namespace tenure::sim {
namespace {

using namespace std::chrono_literals;

constexpr core::duration look_again = 20ms;
constexpr std::uint32_t guard_outlives_agent_ppm = 500'000;

bool is_for_agent(happening what) {
  switch (what) {
    case happening::agent_wakes:
    case happening::agent_receives:
    case happening::agent_hears:
    case happening::watch_opens:
    case happening::stream_breaks:
      return true;
    default:
      return false;
  }
}

}  // namespace

pod::pod(stage& s, network& n, std::uint8_t number)
    : stage_(s),
      network_(n),
      number_(number),
      clock_(s.dice.between(1s, 1'000'000s), s.drawn.clock_ppm[number]) {
  for (std::uint8_t e = 0; e < s.drawn.elections; ++e) guards_.emplace_back(s, clock_, number, e);
  start_after(s.dice.between(0s, s.drawn.when.ttl));
}

// --- what happens ------------------------------------------------------------------------------

void pod::handle(const entry& e, const store& kept) {
  if (e.what == happening::agent_starts) {
    start(e);
  } else if (is_for_agent(e.what)) {
    agent_handles(e);
  } else {
    guard_handles(e, kept);
  }
}

void pod::agent_handles(const entry& e) {
  const bool lives = agent_ && e.stamp == process_;
  if (lives && (paused_ || frozen_)) {
    if (e.what != happening::agent_wakes) deferred_.push_back(e);
    return;
  }
  if (e.what == happening::agent_receives) {
    const message m = stage_.letters.take(e.arg);
    if (lives) agent_->receive(m);
  } else if (lives) {
    switch (e.what) {
      case happening::agent_wakes:
        agent_->timer();
        break;
      case happening::agent_hears:
        agent_->hears(e);
        break;
      case happening::watch_opens:
        agent_->open_watch(e.election);
        break;
      default:
        agent_->stream_broke(e);
        break;
    }
  }
  if (lives) look_at_news();
}

void pod::guard_handles(const entry& e, const store& kept) {
  if (frozen_) {
    if (e.what == happening::guard_told || e.what == happening::workload_dies) {
      deferred_.push_back(e);
    }
    return;
  }
  guarded_workload& guard = guards_[e.election];
  switch (e.what) {
    case happening::guard_told:
      guard.told(e, process_);
      break;
    case happening::guard_timer:
      guard.timer(process_);
      break;
    case happening::workload_dies:
      guard.died(e, process_);
      break;
    default:
      guard.writes(e, kept.holds(e.election, guard.version()));
      break;
  }
}

/// The agent ends when all its elections have; the end of one for a reason of its own ends the
/// others.
void pod::look_at_news() {
  const news n = agent_->take_news();
  tempting_ = tempting_ || n.tempting;
  if (!n.finished) return;
  if (!agent_->done()) {
    for (std::size_t e = 0; e < guards_.size(); ++e) {
      agent_->tell(e, core::event::shutdown{}, core::loss_reason::shutdown);
    }
    // What the others did about it is news, too.
    look_at_news();
    return;
  }
  end_agent();
  ending_ = false;
  // Its container ends with it, or is another one, whose guard waits for the next agent.
  has_session_ = has_session_ && stage_.dice.chance(guard_outlives_agent_ppm);
  start_after(stage_.dice.spread(10ms, 2s));
}

// --- the agent's life ----------------------------------------------------------------------------

void pod::start_after(core::duration delay) {
  stage_.after(delay, {.what = happening::agent_starts, .pod = number_, .stamp = process_});
}

void pod::start(const entry& e) {
  if (e.stamp != process_ || agent_) return;
  const auto ready = [this](const guarded_workload& guard) {
    if (!crashed_ || !adopts()) return !guard.may_run();
    // A guard starts the next agent when it has seen the last one's end. What is dying need not be
    // dead by the time at which that agent has come up.
    const auto left = guard.left_behind();
    return !guard.has_unread_orders() && (!left || !left->stopping || stage_.dice.chance(300'000));
  };
  if (frozen_ || !std::ranges::all_of(guards_, ready)) {
    stage_.after(look_again, e);
    return;
  }
  const bool session_was_used = std::exchange(has_session_, adopts());
  if (!session_was_used) {
    identity_ = static_cast<std::uint16_t>(stage_.identities.size());
    stage_.identities.push_back(
        {.name = "p" + std::to_string(number_) + "." + std::to_string(identity_), .pod = number_});
  }
  crashed_ = false;
  slept_ = core::duration::zero();
  ++process_;
  stage_.note("pod %u: agent starts as %s", number_, stage_.identities[identity_].name.c_str());
  agent_ = std::make_unique<agent>(stage_, network_, clock_, number_, identity_, process_,
                                   std::span(guards_));
  agent_->start(session_was_used);
  look_at_news();
}

void pod::end_agent() {
  agent_.reset();
  paused_ = false;
  network_.agent_gone(number_);
  for (const entry& e : std::exchange(deferred_, {})) {
    if (e.what == happening::agent_receives) {
      stage_.letters.take(e.arg);
    } else if (!is_for_agent(e.what)) {
      deferred_.push_back(e);
    }
  }
}

// --- faults --------------------------------------------------------------------------------------

void pod::crash() {
  if (!agent_ || frozen_) return;
  stage_.note("pod %u: agent is killed", number_);
  end_agent();
  // A guard that was told to end does not start another agent; its container is started anew.
  crashed_ = !std::exchange(ending_, false);
  has_session_ = has_session_ && crashed_;
  const core::time_point until = clock_.local(stage_.now) + stage_.drawn.when.grace;
  for (guarded_workload& guard : guards_) {
    if (!crashed_) {
      guard.tell(order::stop, until);
    } else if (!adopts()) {
      guard.tell(order::stop);
    }
  }
  start_after(stage_.dice.spread(10ms, 2s));
}

void pod::pause() {
  if (!agent_) return;
  stage_.note("pod %u: agent is stopped", number_);
  paused_ = true;
}

void pod::go_on() {
  if (!paused_) return;
  stage_.note("pod %u: agent goes on", number_);
  paused_ = false;
  if (frozen_) return;
  catch_up();
  tell_agent_what_time_it_is();
}

/// All of it now: what is still on its way must not overtake what came before it on a socket.
void pod::catch_up() {
  for (entry e : std::exchange(deferred_, {})) {
    e.at = stage_.now;
    stage_.events.add(e);
  }
}

/// That it has slept, before anything else reaches it. A pod that stands still is to its agent what
/// a machine is that sleeps; an agent that is stopped alone sees only that it is late.
void pod::tell_agent_what_time_it_is() {
  const core::duration slept = std::exchange(slept_, core::duration::zero());
  if (!agent_) return;
  if (slept > core::duration::zero()) {
    stage_.judge.slept(stage_.now, number_, slept);
    for (std::size_t e = 0; e < guards_.size(); ++e) {
      agent_->tell(e, core::event::slept{slept}, core::loss_reason::none);
    }
    look_at_news();
  }
  if (agent_) agent_->continued();
}

void pod::freeze() {
  stage_.note("pod %u: stands still", number_);
  if (!frozen_) frozen_at_ = clock_.local(stage_.now);
  frozen_ = true;
  stage_.judge.froze(stage_.now, number_);
}

void pod::thaw() {
  if (!frozen_) return;
  stage_.note("pod %u: goes on", number_);
  frozen_ = false;
  stage_.judge.thawed(stage_.now, number_);
  for (guarded_workload& guard : guards_) guard.thawed();
  slept_ += clock_.local(stage_.now) - frozen_at_;
  catch_up();
  if (!paused_) tell_agent_what_time_it_is();
}

void pod::replace(core::duration delay) {
  stage_.note("pod %u: is gone", number_);
  end_agent();
  deferred_.clear();
  for (guarded_workload& guard : guards_) guard.destroyed();
  if (frozen_) stage_.judge.thawed(stage_.now, number_);
  frozen_ = false;
  ending_ = false;
  crashed_ = false;
  has_session_ = false;
  ++process_;
  start_after(delay);
}

void pod::shut_down() {
  if (!agent_ || paused_ || frozen_) return;
  ending_ = true;
  for (std::size_t e = 0; e < guards_.size(); ++e) {
    agent_->tell(e, core::event::shutdown{}, core::loss_reason::shutdown);
  }
  look_at_news();
}

void pod::tell(std::size_t election, const core::election_event& what, core::loss_reason why) {
  if (!agent_ || paused_ || frozen_) return;
  agent_->tell(election, what, why);
  look_at_news();
}

bool pod::holds(std::size_t election) const {
  if (!stage_.judge.claims(stage_.now, number_, election)) return false;
  return !stage_.drawn.owns_workload[election] || guards_[election].alive();
}

bool pod::take_tempting() {
  return std::exchange(tempting_, false);
}

}  // namespace tenure::sim
