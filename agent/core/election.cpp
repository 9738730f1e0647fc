#include "core/election.hpp"

#include <algorithm>
#include <utility>

#include "core/check.hpp"

namespace tenure::core {

election::election(election_settings settings) : settings_(std::move(settings)) {
  TENURE_CHECK(settings_.slots > 0);
  TENURE_CHECK(!settings_.identity.empty());
  if (settings_.campaigns) state_ = state::candidate{};
  view_.phase = phase_of(state_);
}

effects election::step(const moment& at, const election_event& what) {
  TENURE_CHECK(at.now >= last_now_);
  last_now_ = at.now;
  effects out;
  const auto* sleep = std::get_if<event::slept>(&what);
  const duration slept = sleep != nullptr ? sleep->lasted : duration::zero();
  // Expiry comes before every event: a holder whose lease has run out must not handle one.
  expire(at, slept, out);
  std::visit([&](const auto& e) { on(at, e, out); }, what);
  if (sleep == nullptr) settle(at, out);
  refresh_view(at.now);
  announce(at.now, out);
  return out;
}

/// Copies what the present phase keeps into the view.
void election::refresh_view(time_point now) {
  view_.lease.reset();
  view_.workload_running = false;
  view_.paused = aside_until_ == never;
  if (const auto* c = in<state::candidate>()) {
    view_.workload_running = c->found.has_value();
  } else if (const auto* p = in<state::pending>()) {
    view_.lease = p->lease;
  } else if (const auto* a = in<state::active>()) {
    view_.lease = a->lease;
    view_.workload_running = a->workload == state::workload_state::running;
  } else if (const auto* d = in<state::draining>()) {
    view_.lease = d->lease;
    view_.workload_running = d->workload && d->workload->ran;
    view_.paused = view_.paused || d->aside == duration::max();
  } else if (const auto* s = in<state::stopped>()) {
    view_.paused = view_.paused || s->paused;
  }
  view_.aside_until = aside_until();
  view_.held_back = obstacle_at(now);
}

// --- time ------------------------------------------------------------------------------------

void election::expire(const moment& at, duration slept, effects& out) {
  const auto why = [&](time_point stop_at) {
    return at.now - slept < stop_at ? loss_reason::suspended : loss_reason::renew_timeout;
  };
  const auto* c = in<state::candidate>();
  if (c != nullptr && c->found && at.now >= c->found->stop_at) {
    give_up(why(c->found->stop_at), c->found->kill_at, at, out);
  }
  const core::lease* lease = held();
  if (lease == nullptr || at.now < lease->stop_at) return;
  if (auto* d = in<state::draining>()) {
    stop(*d, lease->kill_at, d->why, out);
  } else {
    give_up(why(lease->stop_at), lease->kill_at, at, out);
  }
}

/// Does what has become due. Every step but `slept` ends with this, so `woke` needs no code of its
/// own.
void election::settle(const moment& at, effects& out) {
  if (auto* c = in<state::candidate>()) settle(*c, at, out);
  if (auto* p = in<state::pending>(); p != nullptr && at.now >= p->until) {
    activate(p->lease, at, out);
  }
  if (view_.phase == phase::active) make_way(at, out);
  if (auto* d = in<state::draining>()) settle(*d, at, out);
}

time_point election::next_wake() const {
  if (const auto* c = in<state::candidate>()) return wake_of(*c);
  if (const auto* p = in<state::pending>()) return std::min(p->until, p->lease.stop_at);
  if (const auto* a = in<state::active>()) return std::min(a->lease.stop_at, makes_way_at());
  if (const auto* d = in<state::draining>()) return wake_of(*d);
  return never;
}

// --- holding ---------------------------------------------------------------------------------

void election::on(const moment& at, const event::started& e, effects& out) {
  if (watched_from_ != never || view_.phase == phase::stopped) return;
  watched_from_ = at.now;
  out.add(command::watch{.not_before = at.now});
  auto* c = in<state::candidate>();
  const bool found = c != nullptr && c->found;
  if (!found || e.last_term > c->found->version) {
    remember(e.last_term);
    ended_ = std::max(ended_, e.last_term);
  }
  // The workload that was found may have run out of time already.
  if (view_.phase == phase::draining) return;
  view_.since = at.now;
  out.add(command::publish{});
  if (c == nullptr) return;
  c->acquire = state::pause{.until = at.now};
  if (!found && e.session_was_used) release_first(*c, at);
}

void election::enter(election_state to, loss_reason why, const moment& at, effects& out) {
  const core::phase from = view_.phase;
  state_ = std::move(to);
  view_.phase = phase_of(state_);
  view_.since = at.now;
  out.add(command::transition{.from = from, .to = view_.phase, .why = why});
  out.add(command::publish{});
}

void election::activate(const core::lease& held, const moment& at, effects& out) {
  const core::lease lease = held;  // a copy: it belongs to the phase that ends here
  const bool owns = settings_.owns_workload;
  enter(state::active{.lease = lease,
                      .workload =
                          owns ? state::workload_state::starting : state::workload_state::none},
        loss_reason::none, at, out);
  if (!owns) return;
  arm(lease, out);
  out.add(command::start_workload{.version = lease.version});
}

bool election::adopting() const {
  const auto* c = in<state::candidate>();
  return c != nullptr && c->found;
}

bool election::may_go_on() const {
  const auto* c = in<state::candidate>();
  return c != nullptr && c->found && !c->found->stopping;
}

bool election::holding() const {
  return held() != nullptr;
}

const std::string& election::heir() const {
  static const std::string nobody;
  const auto* d = in<state::draining>();
  return d != nullptr ? d->heir : nobody;
}

bool election::wants_renewal() const {
  const core::lease* lease = held();
  if (lease == nullptr || last_now_ >= lease->stop_at) return false;
  const auto* d = in<state::draining>();
  if (d == nullptr) return true;
  // A stuck workload may never end. Its lease is left to run out.
  return d->workload ? !d->workload->stuck : last_now_ < d->quiet_until;
}

void election::on(const moment& at, const event::renewed& e, effects& out) {
  // A reply that arrives after stop_at is not a renewal.
  if (!wants_renewal()) return;
  auto* lease = held();
  if (e.version != lease->version || e.sent_at <= lease->sent_at) return;
  *lease = extended(*lease, std::min(e.sent_at, at.now), e.ttl);
  // The running workload may belong to an earlier term and be ending: this lease gives it no time.
  if (workload_term() == e.version) arm(*lease, out);
  out.add(command::publish{});
  expire(at, duration::zero(), out);
}

lease election::extended(lease of, time_point sent_at, duration ttl) const {
  of.ttl = std::clamp(ttl, duration::zero(), max_ttl);
  const budget worth = settings_.when.of(of.ttl);
  of.sent_at = sent_at;
  of.safe_until = sent_at + worth.safe_until;
  of.kill_at = sent_at + worth.kill_at;
  of.stop_at = sent_at + worth.stop_at;
  return of;
}

void election::remember(core::version seen) {
  highest_seen_ = std::max(highest_seen_, seen);
}

/// True if the watch has shown a state after the grant of term `ours` without that term: the news
/// of its end arrived before the answer that grants it.
bool election::seen_gone(core::version ours) const {
  const auto holds_it = [&](const holder& h) { return h.ours && h.version == ours; };
  return view_.seen && view_.seen->as_of >= ours &&
         std::ranges::none_of(view_.seen->holders, holds_it);
}

/// True if the watch has shown a state after the grant of term `version`, in which nobody holds
/// it.
bool election::shown_over(core::version version) const {
  return view_.seen && view_.seen->as_of >= version &&
         std::ranges::find(view_.seen->holders, version, &holder::version) ==
             view_.seen->holders.end();
}

attempt election::next_attempt() {
  last_attempt_ = attempt{static_cast<std::uint64_t>(last_attempt_) + 1};
  return last_attempt_;
}

}  // namespace tenure::core
