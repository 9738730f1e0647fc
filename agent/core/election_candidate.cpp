#include <algorithm>
#include <utility>

#include "core/backoff.hpp"
#include "core/election.hpp"
#include "core/sometimes.hpp"

/// How a candidate gets the lease.
namespace tenure::core {

bool election::may_hold(time_point now) const {
  return healthy_ && guarded_ && now >= aside_until();
}

/// A candidate does not campaign before its watch has shown the election: only the watch shows
/// another run with its identity, or another number of slots. A workload that an earlier agent left
/// running cannot wait for that.
bool election::may_campaign(time_point now) const {
  return may_hold(now) && (view_.seen || adopting()) && disagreement() == campaign_obstacle::none;
}

/// Precondition: `may_hold` is false.
loss_reason election::why_aside() const {
  if (!guarded_) return loss_reason::guard_gone;
  return healthy_ ? loss_reason::resigned : loss_reason::unhealthy;
}

void election::settle(state::candidate& c, const moment& at, effects& out) {
  // A workload that an earlier agent has stopped must be dead before a campaign begins.
  if (c.found && c.found->stopping) return;
  if (const auto* acquire = std::get_if<state::acquiring>(&c.acquire)) {
    if (at.now < acquire->sent.deadline) return;
    TENURE_SOMETIMES(acquire_timed_out);
    acquire_failed(c, at);
  }
  if (!may_campaign(at.now)) {
    // A member that stands aside must not keep a lease that an unanswered acquire may have been
    // granted.
    if (c.maybe_held) {
      TENURE_SOMETIMES(doubtful_acquire_released_while_aside);
      release_now(c.release, no_version, false, at, out);
    }
    return;
  }
  // A release that was sent while standing aside needs an answer, too: see `settle` of the drain.
  if (!std::holds_alternative<std::monostate>(c.release)) {
    TENURE_SOMETIMES(release_before_campaign);
    release_now(c.release, no_version, false, at, out);
    return;
  }
  if (at.now >= std::get<state::pause>(c.acquire).until) acquire_now(c, at, out);
}

time_point election::wake_of(const state::candidate& c) const {
  if (c.found && c.found->stopping) return never;
  const time_point must_stop = c.found ? c.found->stop_at : never;
  if (const auto* acquire = std::get_if<state::acquiring>(&c.acquire)) {
    return std::min(acquire->sent.deadline, must_stop);
  }
  if (!may_campaign(last_now_)) {
    const bool waits = healthy_ && guarded_ && !may_hold(last_now_);
    return std::min(
        {c.maybe_held ? state::due(c.release) : never, waits ? aside_until() : never, must_stop});
  }
  const bool releases = !std::holds_alternative<std::monostate>(c.release);
  return std::min(releases ? state::due(c.release) : std::get<state::pause>(c.acquire).until,
                  must_stop);
}

void election::acquire_now(state::candidate& c, const moment& at, effects& out) {
  const state::request next{.number = next_attempt(),
                            .deadline = at.now + settings_.when.try_timeout(),
                            .failures = std::get<state::pause>(c.acquire).failures};
  c.acquire = state::acquiring{.sent = next};
  // Above the inherited term, too: a new grant of that version would be taken for the inherited
  // term.
  out.add(command::acquire{.number = next.number,
                           .deadline = next.deadline,
                           .above = std::max(highest_seen_, inherited_)});
}

/// Unknown is not no: the store may count us as the holder from now on. Precondition: an acquire is
/// in flight.
void election::acquire_failed(state::candidate& c, const moment& at) const {
  const std::uint32_t failures = std::get<state::acquiring>(c.acquire).sent.failures + 1;
  const backoff pauses{.first = first_acquire_pause,
                       .most = std::max(first_acquire_pause, settings_.when.renew)};
  c.maybe_held = true;
  c.acquire =
      state::pause{.until = at.now + pauses.after(failures, at.entropy), .failures = failures};
}

// --- the answers -----------------------------------------------------------------------------

void election::on(const moment& at, const event::granted& e, effects& out) {
  if (auto* d = in<state::draining>()) {
    // Too late to begin a term: the drain releases it with everything else we may hold.
    TENURE_SOMETIMES(granted_while_draining);
    if (d->acquire && (at.now >= d->acquire->deadline || e.number == d->acquire->number)) {
      d->acquire.reset();
      d->maybe_held = true;
    }
    d->maybe_held = d->maybe_held || held() == nullptr;
    return;
  }
  auto* c = in<state::candidate>();
  if (c == nullptr || view_.since == never) return;
  const auto* acquire = std::get_if<state::acquiring>(&c->acquire);
  if (acquire != nullptr && at.now >= acquire->sent.deadline) acquire_failed(*c, at);
  if (!state::awaits(c->acquire, e.number)) {
    // The answer to a try that timed out: the store counts it, we do not. Ask again.
    TENURE_SOMETIMES(granted_after_its_deadline);
    c->maybe_held = true;
    if (auto* pause = std::get_if<state::pause>(&c->acquire)) pause->until = at.now;
    return;
  }
  const lease granted = extended({.version = e.version}, std::min(e.sent_at, at.now), e.ttl);
  const bool too_late = settings_.when.fits(granted.ttl) && at.now >= granted.stop_at;
  const bool disagrees = disagreement() != campaign_obstacle::none;
  if (too_late) TENURE_SOMETIMES(granted_too_late);
  if (seen_gone(e.version)) TENURE_SOMETIMES(granted_and_seen_gone);
  if (disagrees) TENURE_SOMETIMES(granted_while_disagreeing);
  if (too_late || e.version == no_version || seen_gone(e.version) || disagrees) {
    acquire_failed(*c, at);
  } else if (e.version == ended_ && !c->found) {
    // The store has kept the term for too long, or was wrong when it said that the term was over.
    TENURE_SOMETIMES(granted_an_ended_term);
    acquire_failed(*c, at);
    release_first(*c, at);
  } else {
    accept(*c, e, granted, at, out);
  }
}

/// The store granted the lease. Begins its term, or gives it back.
void election::accept(state::candidate& c, const event::granted& e, const core::lease& granted,
                      const moment& at, effects& out) {
  const bool adopted = c.found && c.found->version == e.version;
  view_.sequencer = e.sequencer;
  view_.slot = e.slot;
  // The store has answered: no acquire is in doubt.
  c.acquire = state::pause{};
  c.maybe_held = false;
  const auto give_back = [&](loss_reason why, time_point kill_by, bool clean) -> state::draining& {
    state::draining& d = give_up(why, kill_by, at, out);
    d.lease = granted;
    d.clean = clean;
    return d;
  };
  const core::version inherited = std::exchange(inherited_, no_version);
  if (inherited != e.version) remember(inherited);
  if (e.version <= highest_seen_) {
    // Resources have seen this version or a larger one, and could not tell us from its holder.
    TENURE_SOMETIMES(granted_a_smaller_version);
    view_.regressed = {.granted = e.version, .seen = highest_seen_};
    give_back(loss_reason::version_regressed, at.now, false).aside = settings_.when.ttl;
    return;
  }
  view_.regressed.reset();
  remember(e.version);
  if (!settings_.when.fits(granted.ttl)) {
    TENURE_SOMETIMES(granted_too_short_a_ttl);
    give_back(loss_reason::ttl_too_short, at.now, e.released_cleanly).aside = settings_.when.ttl;
  } else if (!may_hold(at.now)) {
    TENURE_SOMETIMES(granted_while_aside);
    give_back(why_aside(), drained_by(at), e.released_cleanly);
  } else if (adopted) {
    // Its workload was started after lock_delay.
    TENURE_SOMETIMES(term_adopted);
    enter(state::active{.lease = granted, .workload = state::workload_state::running},
          loss_reason::none, at, out);
    arm(granted, out);
  } else if (c.found) {
    // The term of the found workload is over, and we were granted another.
    TENURE_SOMETIMES(granted_another_term_than_the_found);
    give_back(loss_reason::session_invalid, at.now, e.released_cleanly);
  } else if (e.released_cleanly) {
    activate(granted, at, out);
  } else {
    enter(state::pending{.lease = granted, .until = at.now + settings_.when.lock_delay},
          loss_reason::none, at, out);
  }
}

void election::on(const moment& at, const event::refused& e, effects& out) {
  if (auto* d = in<state::draining>(); d != nullptr && state::awaits(d->acquire, e.number)) {
    d->maybe_held = false;
    d->acquire.reset();
  }
  auto* c = in<state::candidate>();
  if (c == nullptr) return;
  if (state::awaits(c->acquire, e.number)) {
    const bool freed = std::get<state::acquiring>(c->acquire).seen_free;
    if (freed) TENURE_SOMETIMES(refused_and_seen_free);
    const time_point again = freed ? turn(at) : std::max(behind(e.retry_at, at), heir_first_until_);
    c->maybe_held = false;
    c->acquire = state::pause{.until = std::max(again, at.now + refused_pause)};
  }
  // However late this refusal is: if we still held the term of the found workload, the store would
  // have granted our try.
  if (c->found && !c->found->stopping) {
    TENURE_SOMETIMES(refused_while_adopting);
    give_up(loss_reason::taken_over, at.now, at, out);
  }
}

void election::on(const moment& at, const event::acquire_unknown& e, effects&) {
  if (auto* d = in<state::draining>(); d != nullptr && state::awaits(d->acquire, e.number)) {
    d->maybe_held = true;
    d->acquire.reset();
  }
  auto* c = in<state::candidate>();
  if (c != nullptr && state::awaits(c->acquire, e.number)) acquire_failed(*c, at);
}

}  // namespace tenure::core
