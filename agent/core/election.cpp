#include "core/election.hpp"

#include <algorithm>
#include <utility>

namespace tenure::core {
namespace {

/// First pause after an acquire whose outcome is unknown; the longest is the renewal interval.
constexpr duration first_acquire_pause = std::chrono::milliseconds(50);
constexpr backoff release_pauses{.first = std::chrono::milliseconds(20),
                                 .most = std::chrono::seconds(1)};
/// On shutdown the pod's own deadline is near, and the lease runs out by itself.
constexpr std::uint32_t max_release_tries_at_end = 2;

}  // namespace

election::election(election_settings settings) : settings_(std::move(settings)) {
  TENURE_CHECK(settings_.slots > 0);
  TENURE_CHECK(!settings_.identity.empty());
  view_.phase = settings_.campaigns ? phase::candidate : phase::observer;
}

effects election::step(const moment& at, const election_event& what) {
  TENURE_CHECK(at.now >= last_now_);
  last_now_ = at.now;
  effects out;
  const auto* sleep = std::get_if<event::slept>(&what);
  const duration slept = sleep != nullptr ? sleep->lasted : duration::zero();
  // Expiry comes first, whatever woke us: no event may be handled by a holder whose lease has
  // already run out.
  expire(at, slept, out);
  std::visit([&](const auto& e) { on(at, e, out); }, what);
  settle(at, out);
  view_.aside_until = aside_until();
  view_.paused = aside_until_ == never || aside_ == duration::max();
  view_.held_back = obstacle_at(at.now);
  return out;
}

// --- time ------------------------------------------------------------------------------------

void election::expire(const moment& at, duration slept, effects& out) {
  const auto why = [&](time_point stop_at) {
    return at.now - slept < stop_at ? loss_reason::suspended : loss_reason::renew_timeout;
  };
  if (found_ && at.now >= found_->stop_at) {
    give_up(why(found_->stop_at), found_->kill_at, at, out);
  }
  if (!holding() || at.now < view_.lease->stop_at) return;
  if (view_.phase != phase::draining) {
    give_up(why(view_.lease->stop_at), view_.lease->kill_at, at, out);
  } else {
    stop_work(view_.lease->kill_at, why_, out);
  }
}

/// Does what has become due. Every step ends here, so that `woke` needs no code of its own.
void election::settle(const moment& at, effects& out) {
  if (view_.phase == phase::candidate) settle_candidate(at, out);
  if (view_.phase == phase::pending && at.now >= pending_until_) activate(at, out);
  if (view_.phase == phase::draining) settle_draining(at, out);
}

bool election::may_hold(time_point now) const {
  return healthy_ && guarded_ && now >= aside_until();
}

/// A candidate does not campaign before its watch has shown the election: only the watch tells it
/// of another run with its identity, or of another number of slots. A workload that an earlier
/// agent has left running cannot wait for that.
bool election::may_campaign(time_point now) const {
  return may_hold(now) && (view_.seen || found_) && disagreement() == campaign_obstacle::none;
}

/// Precondition: it may not hold.
loss_reason election::why_aside() const {
  if (!guarded_) return loss_reason::guard_gone;
  return healthy_ ? loss_reason::resigned : loss_reason::unhealthy;
}

void election::settle_candidate(const moment& at, effects& out) {
  // What an earlier agent has told to end must be dead before anything can begin.
  if (work_ == work::stopping) return;
  if (acquire_.state == call::flying) {
    if (at.now < acquire_.at) return;
    acquire_failed(at);
  }
  if (!may_campaign(at.now)) {
    // Standing aside must not mean sitting on a lease that an unanswered acquire may have got.
    if (maybe_held_) release_now(no_version, at, out);
    return;
  }
  // The same for one that was sent while standing aside: see settle_draining.
  if (release_.state != call::idle) {
    release_now(no_version, at, out);
    return;
  }
  if (acquire_.state == call::waiting && at.now >= acquire_.at) acquire_now(at, out);
}

void election::settle_draining(const moment& at, effects& out) {
  if (work_ != work::none || at.now < quiet_until_) return;
  const bool unseen = at.now < unseen_until_;
  if (unseen && !leaving()) return;
  if (acquire_.state == call::flying) {
    // Released before the answer is known, a slow acquire could still be carried out afterwards.
    if (at.now < acquire_.at) return;
    acquire_failed(at);
  }
  const bool ours = holding();
  // An unanswered release may be carried out late. Granted the same term again before, we would
  // run under a lease that it takes away; so only an agent that ends for good may give up on it.
  const bool ran_out = ours && at.now >= view_.lease->safe_until;
  const bool gave_up = ran_out || unseen || release_.failures >= max_release_tries_at_end;
  const bool enough = leaving() && gave_up;
  if (enough || (!ours && !maybe_held_)) {
    drained(at, out);
    return;
  }
  release_now(ours ? view_.lease->term : no_version, at, out);
}

/// Sends a release unless one is in flight or waits for its next try.
void election::release_now(version term, const moment& at, effects& out) {
  if (release_.state == call::flying && at.now >= release_.at) release_failed(at);
  if (release_.state == call::flying) return;
  if (release_.state == call::waiting && at.now < release_.at) return;
  release_.state = call::flying;
  release_.number = next_attempt();
  release_.at = at.now + settings_.when.try_timeout();
  out.add(command::release{.number = release_.number,
                           .term = term,
                           .clean = term != no_version && clean_,
                           .deadline = release_.at});
}

time_point election::next_wake() const {
  switch (view_.phase) {
    case phase::candidate:
      if (work_ == work::stopping) return never;
      return std::min(candidate_wake(), found_ ? found_->stop_at : never);
    case phase::pending:
      return std::min(pending_until_, view_.lease->stop_at);
    case phase::active:
      return view_.lease->stop_at;
    case phase::draining:
      if (work_ != work::none || last_now_ < quiet_until_) {
        const time_point expiry =
            holding() && last_now_ < view_.lease->stop_at ? view_.lease->stop_at : never;
        return work_ != work::none ? expiry : std::min(expiry, quiet_until_);
      }
      if (last_now_ < unseen_until_ && !leaving()) return unseen_until_;
      return acquire_.state == call::flying ? acquire_.at : release_.at;
    case phase::observer:
    case phase::stopped:
      return never;
  }
  return never;
}

time_point election::candidate_wake() const {
  if (acquire_.state == call::flying) return acquire_.at;
  if (!may_campaign(last_now_)) {
    return std::min(maybe_held_ ? release_.at : never,
                    healthy_ && guarded_ && !may_hold(last_now_) ? aside_until() : never);
  }
  if (release_.state != call::idle) return release_.at;
  return acquire_.state == call::waiting ? acquire_.at : never;
}

// --- gaining ---------------------------------------------------------------------------------

void election::on(const moment& at, const event::started& e, effects& out) {
  if (watched_from_ != never || view_.phase == phase::stopped) return;
  watched_from_ = at.now;
  out.add(command::watch{.not_before = at.now});
  if (!found_ || e.last_term > found_->term) {
    remember(e.last_term);
    ended_ = std::max(ended_, e.last_term);
  }
  // The time of what was found may have been over by now.
  if (view_.phase == phase::draining) return;
  view_.since = at.now;
  out.add(command::publish{});
  if (!settings_.campaigns) return;
  acquire_ = {.state = call::waiting, .at = at.now};
  if (!found_ && e.session_was_used) release_first(at);
}

/// Whatever our session holds: a release of it may be under way, or what ran under it is dead.
void election::release_first(const moment& at) {
  maybe_held_ = true;
  release_ = {.state = call::waiting, .at = at.now};
}

void election::acquire_now(const moment& at, effects& out) {
  acquire_.state = call::flying;
  acquire_.number = next_attempt();
  acquire_.at = at.now + settings_.when.try_timeout();
  freed_meanwhile_ = false;
  // Above the inherited term, too: granted anew, it would be taken for the one that we look for.
  out.add(command::acquire{.number = acquire_.number,
                           .deadline = acquire_.at,
                           .above = std::max(highest_seen_, inherited_)});
}

void election::on(const moment& at, const event::granted& e, effects& out) {
  if (acquire_.state == call::flying && at.now >= acquire_.at) acquire_failed(at);
  if (acquire_.state != call::flying || e.number != acquire_.number) {
    // The answer to a try that was given up: it counts at the store, not here. Ask again.
    if (holding() || view_.since == never) return;
    maybe_held_ = true;
    if (view_.phase == phase::candidate && acquire_.state != call::flying) {
      acquire_ = {.state = call::waiting, .at = at.now, .failures = acquire_.failures};
    }
    return;
  }
  const std::uint32_t failures = std::exchange(acquire_, {}).failures;
  maybe_held_ = true;
  if (view_.phase != phase::candidate) return;

  const lease got = extended({.term = e.term}, std::min(e.sent_at, at.now), e.ttl);
  const bool fits = settings_.when.fits(got.ttl);
  const bool too_late = fits && at.now >= got.stop_at;
  const bool disagrees = disagreement() != campaign_obstacle::none;
  if (too_late || e.term == no_version || seen_gone(e.term) || disagrees) {
    acquire_.failures = failures;
    acquire_failed(at);
    return;
  }
  if (e.term == ended_ && !found_) {
    // The store has kept it longer than it was worth, or was wrong when it said that it was gone.
    acquire_.failures = failures;
    acquire_failed(at);
    release_first(at);
    return;
  }
  view_.lease = got;
  view_.sequencer = e.sequencer;
  maybe_held_ = false;
  gone_ = false;
  clean_ = false;
  const bool adopted = found_ && found_->term == e.term;
  const version inherited = std::exchange(inherited_, no_version);
  if (inherited != e.term) remember(inherited);
  if (e.term <= highest_seen_) {
    // Resources have seen this version or a larger one, and would not tell us from its owner.
    aside_ = settings_.when.ttl;
    view_.regressed = {.granted = e.term, .seen = highest_seen_};
    give_up(loss_reason::version_regressed, at.now, at, out);
    return;
  }
  view_.regressed.reset();
  remember(e.term);
  clean_ = e.released_cleanly;
  if (!fits) {
    aside_ = settings_.when.ttl;
    give_up(loss_reason::session_invalid, at.now, at, out);
  } else if (!may_hold(at.now)) {
    give_up(why_aside(), drained_by(at), at, out);
  } else if (adopted) {
    adopt(at, out);
  } else if (found_) {
    // Its term is over, and we have another one.
    give_up(loss_reason::session_invalid, at.now, at, out);
  } else if (e.released_cleanly) {
    activate(at, out);
  } else {
    pending_until_ = at.now + settings_.when.lock_delay;
    enter(phase::pending, loss_reason::none, at, out);
  }
}

void election::on(const moment& at, const event::refused& e, effects& out) {
  const bool awaited = acquire_.state == call::flying && e.number == acquire_.number;
  if (awaited) maybe_held_ = false;
  if (found_ && work_ != work::stopping) {
    // However late: a try of ours would have been granted if the term of what runs were ours.
    if (awaited) acquire_ = {};
    give_up(loss_reason::taken_over, at.now, at, out);
    return;
  }
  if (!awaited) return;
  const time_point again = freed_meanwhile_ ? at.now : e.retry_at;
  acquire_ = {.state = call::waiting,
              .at = std::max({again, at.now + refused_pause, heir_first_until_})};
}

void election::on(const moment& at, const event::acquire_unknown& e, effects&) {
  if (acquire_.state != call::flying || e.number != acquire_.number) return;
  acquire_failed(at);
}

/// True if the watch has shown a state in which term `ours` was granted already, and is missing:
/// the answer that grants it was overtaken by the news of its end.
bool election::seen_gone(version ours) const {
  const auto holds_it = [&](const holder& h) { return h.ours && h.term == ours; };
  return view_.seen && view_.seen->as_of >= ours &&
         std::ranges::none_of(view_.seen->holders, holds_it);
}

/// Unknown is not no: the store may count us as the holder from now on.
void election::acquire_failed(const moment& at) {
  maybe_held_ = true;
  const backoff pauses{.first = first_acquire_pause,
                       .most = std::max(first_acquire_pause, settings_.when.renew)};
  acquire_.state = call::waiting;
  ++acquire_.failures;
  acquire_.at = at.now + pauses.after(acquire_.failures, at.entropy);
}

void election::activate(const moment& at, effects& out) {
  pending_until_ = never;
  clean_ = true;
  enter(phase::active, loss_reason::none, at, out);
  if (!settings_.owns_workload) return;
  work_ = work::starting;
  work_term_ = view_.lease->term;
  kill_by_ = never;
  arm(out);
  out.add(command::start_workload{.term = view_.lease->term});
}

// --- holding ---------------------------------------------------------------------------------

bool election::holding() const {
  return view_.lease && !gone_;
}

bool election::wants_renewal() const {
  if (!holding() || last_now_ >= view_.lease->stop_at) return false;
  // Nobody is to wait for the end of what may never end: such a lease runs out.
  if (stuck_) return false;
  return view_.phase != phase::draining || work_ != work::none || last_now_ < quiet_until_;
}

void election::on(const moment& at, const event::renewed& e, effects& out) {
  // A reply that arrives after stop_at is not a renewal.
  if (!wants_renewal() || e.term != view_.lease->term) return;
  if (e.sent_at <= view_.lease->sent_at) return;
  view_.lease = extended(*view_.lease, std::min(e.sent_at, at.now), e.ttl);
  // What runs may be of an earlier term, whose end we wait for: this lease gives it no time.
  if (work_ != work::none && work_term_ == e.term) arm(out);
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

void election::remember(version seen) {
  highest_seen_ = std::max(highest_seen_, seen);
}

// --- losing and giving up --------------------------------------------------------------------

void election::on(const moment& at, const event::lost& e, effects& out) {
  if (!holding() || e.term != view_.lease->term) return;
  lose(e.why, at, out);
}

/// The store's own word: kill now. Only where it says that our session has ended, its lock-delay
/// leaves room for grace before it grants to somebody else; that delay began when the session
/// ended, of which we know only that it was after the last acknowledged send.
void election::lose(loss_reason why, const moment& at, effects& out) {
  gone_ = true;
  const bool delayed = why == loss_reason::session_invalid;
  const budget room = settings_.when.of(delayed ? settings_.store_lock_delay : duration::zero());
  const time_point kill_by =
      std::max(at.now, std::min(view_.lease->kill_at, view_.lease->sent_at + room.kill_at));
  if (view_.phase == phase::draining) {
    stop_work(kill_by, why, out);
  } else {
    give_up(why, kill_by, at, out);
  }
}

void election::give_up(loss_reason why, time_point kill_by, const moment& at, effects& out) {
  const bool was_active = view_.phase == phase::active;
  const bool failed = why == loss_reason::unhealthy ||
                      (why == loss_reason::workload_exited && !settings_.ends_with_workload);
  rest_ = unhealthy_terms_.ended(failed, was_active ? at.now - view_.since : duration::zero(),
                                 settings_.when.ttl);
  why_ = why;
  view_.last_loss = why;
  if (found_) {
    remember(found_->term);
    ended_ = found_->term;
  }
  found_.reset();
  pending_until_ = never;
  release_ = {};
  quiet_until_ = time_point::min();
  if (was_active && !settings_.owns_workload && !gone_) {
    // Whoever reads our answers is the workload, and has the grace to read that it is over.
    quiet_until_ = std::min(view_.lease->kill_at, at.now + settings_.when.grace);
  }
  enter(phase::draining, why, at, out);
  stop_work(kill_by, why, out);
}

void election::on(const moment&, const event::released& e, effects&) {
  if (release_.state != call::flying || e.number != release_.number) return;
  release_ = {};
  gone_ = true;
  maybe_held_ = false;
}

void election::on(const moment& at, const event::release_unknown& e, effects&) {
  if (release_.state != call::flying || e.number != release_.number) return;
  release_failed(at);
}

void election::release_failed(const moment& at) {
  ++release_.failures;
  release_.state = call::waiting;
  release_.at = at.now + release_pauses.after(release_.failures, at.entropy);
}

/// True if the drain in progress is the last one.
bool election::leaving() const {
  return ending_ || (why_ == loss_reason::workload_exited && settings_.ends_with_workload) ||
         (is_loss(why_) && settings_.on_lost == after_loss::exit);
}

/// Nothing runs, and what could be released is.
void election::drained(const moment& at, effects& out) {
  // Granted meanwhile to a try that was given up: the session keeps it for as long as it lives.
  if (view_.lease) ended_ = view_.lease->term;
  const auto is_newer = [&](const holder& h) { return h.ours && h.term > ended_; };
  const bool holds_another = view_.seen && std::ranges::any_of(view_.seen->holders, is_newer);
  view_.lease.reset();
  view_.sequencer.clear();
  gone_ = false;
  release_ = {};
  acquire_ = {};
  quiet_until_ = time_point::min();
  maybe_held_ = false;
  if (leaving()) {
    enter(phase::stopped, why_, at, out);
    out.add(command::finished{.why = why_});
    return;
  }
  // What was unhealthy is dead; nothing is left to become healthy again.
  if (why_ == loss_reason::unhealthy && !settings_.checked_always) healthy_ = true;
  rest_until_ = std::max(rest_until_, later(at.now, std::exchange(rest_, duration::zero())));
  aside_until_ = std::max(aside_until_, later(at.now, std::exchange(aside_, duration::zero())));
  enter(phase::candidate, why_, at, out);
  heir_.clear();
  const backoff pauses{.first = first_acquire_pause, .most = first_acquire_pause};
  const time_point soon = at.now + pauses.after(1, at.entropy);
  acquire_ = {.state = call::waiting, .at = std::max(soon, heir_first_until_)};
  if (!holds_another) return;
  maybe_held_ = true;
  release_ = {.state = call::waiting, .at = soon};
}

// --- small things ----------------------------------------------------------------------------

void election::enter(core::phase to, loss_reason why, const moment& at, effects& out) {
  const core::phase from = view_.phase;
  view_.phase = to;
  view_.since = at.now;
  out.add(command::transition{.from = from, .to = to, .why = why});
  out.add(command::publish{});
}

/// When what runs must be dead if the lease is given up on purpose now.
time_point election::drained_by(const moment& at) const {
  return later(at.now, settings_.when.drain);
}

attempt election::next_attempt() {
  last_attempt_ = attempt{static_cast<std::uint64_t>(last_attempt_) + 1};
  return last_attempt_;
}

}  // namespace tenure::core
