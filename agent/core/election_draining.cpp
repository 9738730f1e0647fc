#include <algorithm>
#include <utility>

#include "core/backoff.hpp"
#include "core/election.hpp"
#include "core/sometimes.hpp"

/// How a term ends: the workload first, then the lease.
namespace tenure::core {
namespace {

/// At shutdown the pod's own deadline is near, and the lease runs out by itself.
constexpr std::uint32_t max_release_tries_at_end = 2;

}  // namespace

void election::on(const moment& at, const event::lost& e, effects& out) {
  const core::lease* lease = held();
  if (lease == nullptr || e.version != lease->version) return;
  lose(*lease, e.why, e.room, at, out);
}

/// The store itself says that the term is over: kill now, unless it says as well that it grants the
/// lease to nobody for a while. That began after the last acknowledged send.
void election::lose(const core::lease& lease, loss_reason why, duration room, const moment& at,
                    effects& out) {
  const time_point free_from = lease.sent_at + settings_.when.of(room).kill_at;
  taken_away(why, std::max(at.now, std::min(lease.kill_at, free_from)), at, out);
}

/// We have lost what we hold or may hold. API clients get no time to notice, unless only our
/// session has ended: then its key may exist until we release it ourselves.
state::draining& election::taken_away(loss_reason why, time_point kill_by, const moment& at,
                                      effects& out) {
  auto* d = in<state::draining>();
  if (d != nullptr) {
    TENURE_SOMETIMES(lost_while_draining);
    stop(*d, kill_by, why, out);
  } else {
    d = &give_up(why, kill_by, at, out);
    if (why != loss_reason::session_invalid) d->quiet_until = time_point::min();
  }
  d->gone = d->lost = true;
  return *d;
}

/// Ends the term, or the campaign. Returns the drain that begins, for its caller to add to.
state::draining& election::give_up(loss_reason why, time_point kill_by, const moment& at,
                                   effects& out) {
  const bool was_active = view_.phase == phase::active;
  const bool ended = why == loss_reason::workload_exited || why == loss_reason::container_died;
  const bool failed = why == loss_reason::unhealthy || (ended && !settings_.ends_with_workload);
  state::draining next{.why = why, .last = is_last(why)};
  next.rest = unhealthy_terms_.ended(failed, was_active ? at.now - view_.since : duration::zero(),
                                     settings_.when.ttl);
  carry_over(next, at);
  view_.last_loss = why;
  enter(std::move(next), why, at, out);
  auto& d = std::get<state::draining>(state_);
  stop(d, kill_by, why, out);
  return d;
}

/// Moves into the drain what it needs from the phase that ends.
void election::carry_over(state::draining& to, const moment& at) {
  if (auto* c = in<state::candidate>()) {
    if (auto* acquire = std::get_if<state::acquiring>(&c->acquire)) to.acquire = acquire->sent;
    to.maybe_held = c->maybe_held;
    if (!c->found) return;
    to.workload = {.version = c->found->version, .ran = true};
    remember(c->found->version);
    ended_ = c->found->version;
  } else if (auto* p = in<state::pending>()) {
    to.lease = p->lease;
  } else if (auto* a = in<state::active>()) {
    to.lease = a->lease;
    to.clean = true;
    if (a->workload != state::workload_state::none) {
      to.workload = {.version = a->lease.version,
                     .ran = a->workload == state::workload_state::running};
    }
    // API clients are the workload, and have the grace time to notice that the term is over.
    if (!settings_.owns_workload) {
      to.quiet_until = std::min(a->lease.kill_at, at.now + settings_.when.grace);
    }
  }
}

void election::stop(state::draining& d, time_point kill_by, loss_reason why, effects& out) {
  if (!d.workload || kill_by >= d.workload->kill_by) return;
  d.workload->kill_by = kill_by;
  out.add(command::stop_workload{.kill_by = kill_by, .why = why});
}

/// True if the election stops after a drain for this reason.
bool election::is_last(loss_reason why) const {
  return (why == loss_reason::workload_exited && settings_.ends_with_workload) ||
         (is_loss(why) && settings_.on_lost == after_loss::exit);
}

/// When the workload must be dead if the lease is given up on purpose now.
time_point election::drained_by(const moment& at) const {
  return later(at.now, settings_.when.drain);
}

void election::settle(state::draining& d, const moment& at, effects& out) {
  if (d.workload || at.now < d.quiet_until) return;
  const bool unseen = at.now < d.unseen_until;
  if (unseen && !d.last) return;
  if (d.acquire) {
    // A slow acquire could be carried out after the release: wait for its answer first.
    if (at.now < d.acquire->deadline) return;
    TENURE_SOMETIMES(drain_without_its_acquires_answer);
    d.acquire.reset();
    d.maybe_held = true;
  }
  const core::lease* ours = held();
  // An unanswered release may be carried out late. If we were granted the same term again before
  // that, it would end the lease we run under; so only an agent that ends for good may stop trying.
  const bool ran_out = ours != nullptr && at.now >= ours->safe_until;
  const bool gave_up =
      ran_out || unseen || state::failures_of(d.release) >= max_release_tries_at_end;
  const bool enough = d.last && gave_up;
  if (enough && ours != nullptr) TENURE_SOMETIMES(ended_without_a_release);
  if (enough || (ours == nullptr && !d.maybe_held)) {
    drained(std::move(d), at, out);
  } else if (ours != nullptr) {
    release_now(d.release, ours->version, d.clean, at, out);
  } else {
    release_now(d.release, no_version, false, at, out);
  }
}

time_point election::wake_of(const state::draining& d) const {
  const bool quiet = last_now_ < d.quiet_until;
  if (d.workload || quiet) {
    const core::lease* ours = held();
    const time_point expiry = ours != nullptr && last_now_ < ours->stop_at ? ours->stop_at : never;
    return d.workload ? expiry : std::min(expiry, d.quiet_until);
  }
  if (last_now_ < d.unseen_until && !d.last) return d.unseen_until;
  if (d.acquire) return d.acquire->deadline;
  // A sleep has ended what there was to wait for, and begins nothing itself.
  const bool has_begun = !std::holds_alternative<std::monostate>(d.release);
  return has_begun ? state::due(d.release) : last_now_;
}

/// Nothing runs, and everything that could be released is. `done` is the state of the phase that
/// ends.
void election::drained(state::draining done, const moment& at, effects& out) {
  if (done.lease) ended_ = done.lease->version;
  view_.sequencer.clear();
  view_.slot = 0;
  if (done.last) {
    enter(state::stopped{.paused = done.aside == duration::max()}, done.why, at, out);
    out.add(command::finished{.why = done.why});
    return;
  }
  // The unhealthy workload is dead: no check would report it as healthy again.
  if (done.why == loss_reason::unhealthy && !settings_.checked_always) healthy_ = true;
  rest_until_ = std::max(rest_until_, later(at.now, done.rest));
  aside_until_ = std::max(aside_until_, later(at.now, done.aside));
  const backoff pauses{.first = first_acquire_pause, .most = first_acquire_pause};
  const time_point soon = at.now + pauses.after(1, at.entropy);
  state::candidate next{.acquire = state::pause{.until = std::max(soon, turn(at))}};
  // The store has meanwhile granted a try that timed out: the session holds that term until it is
  // released.
  const auto is_newer = [&](const holder& h) { return h.ours && h.version > ended_; };
  if (view_.seen && std::ranges::any_of(view_.seen->holders, is_newer)) {
    TENURE_SOMETIMES(drained_and_holds_a_newer_term);
    next.maybe_held = true;
    next.release = state::pause{.until = soon};
  }
  enter(next, done.why, at, out);
}

}  // namespace tenure::core
