#include <utility>

#include "core/check.hpp"
#include "core/election.hpp"
#include "core/sometimes.hpp"

/// Events of an election's workload and of its guard.
namespace tenure::core {

// --- found running ---------------------------------------------------------------------------

void election::on(const moment& at, const event::workload_found& e, effects& out) {
  TENURE_CHECK(e.version != no_version);
  auto* c = in<state::candidate>();
  if (c == nullptr || c->found) return;
  c->found = e;
  if (e.stopping) c->found->stop_at = never;  // the guard ends it
  c->maybe_held = true;
  // The next grant may be its term, unless it is being stopped, but not an older one.
  inherited_ = e.version;
  remember(e.stopping ? e.version : core::version{number(e.version) - 1});
  out.add(command::publish{});
  if (shown_over(e.version)) {
    TENURE_SOMETIMES(found_after_its_term);
    const bool room = view_.seen->holders.size() < settings_.slots;
    give_up(room ? loss_reason::revoked : loss_reason::taken_over, at.now, at, out);
    return;
  }
  auto* pause = std::get_if<state::pause>(&c->acquire);
  if (pause != nullptr && view_.since != never) pause->until = at.now;
  // This member stands aside, so it is about to release the lease the workload needs.
  if (!may_campaign(at.now) || !std::holds_alternative<std::monostate>(c->release)) {
    TENURE_SOMETIMES(found_while_aside);
    give_up(why_aside(), drained_by(at), at, out);
  }
}

void election::arm(const core::lease& by, effects& out) {
  out.add(command::arm{.version = by.version, .stop_at = by.stop_at, .kill_at = by.kill_at});
}

// --- its start and its end --------------------------------------------------------------------

void election::on(const moment&, const event::workload_started& e, effects& out) {
  auto* a = in<state::active>();
  if (a == nullptr || a->workload != state::workload_state::starting) return;
  if (e.version != a->lease.version) return;
  a->workload = state::workload_state::running;
  out.add(command::publish{});
}

void election::on(const moment& at, const event::workload_exited& e, effects& out) {
  if (workload_term() == no_version) return;
  out.add(command::publish{});
  if (auto* c = in<state::candidate>()) {
    const bool stopping = c->found->stopping;
    c->found.reset();
    if (stopping) {
      TENURE_SOMETIMES(found_one_that_was_stopping);
      return release_first(*c, at);
    }
  }
  if (auto* a = in<state::active>()) a->workload = state::workload_state::none;
  if (auto* d = in<state::draining>()) {
    d->workload.reset();
    if (e.with_container && d->unseen_until != time_point::min()) {
      TENURE_SOMETIMES(unseen_workload_seen_dead);
      d->unseen_until = time_point::min();
      d->gone = d->lost;
    }
  } else {
    give_up(loss_reason::workload_exited, at.now, at, out);
  }
}

/// Its lease is not released before it is dead, either. It runs no code any more, but the kernel
/// may still carry out what it asked for; resources refuse that by the version.
void election::on(const moment&, const event::workload_stuck&, effects&) {
  if (auto* d = in<state::draining>(); d != nullptr && d->workload) {
    TENURE_SOMETIMES(workload_stuck);
    d->workload->stuck = true;
  }
}

void election::on(const moment& at, const event::workload_unseen&, effects& out) {
  const auto* c = in<state::candidate>();
  const auto* d = in<state::draining>();
  const core::lease* lease = held();
  const bool maybe_held = (c != nullptr && c->maybe_held) || (d != nullptr && d->maybe_held);
  if (workload_term() == no_version || (lease == nullptr && !maybe_held)) return;
  TENURE_SOMETIMES(workload_unseen);
  // A renewal that is under way, or an acquire that timed out, may prolong it still.
  const duration ttl = lease != nullptr ? lease->ttl : settings_.when.ttl;
  const time_point renewed_at = later(at.now, settings_.when.try_timeout());
  // By the store's clock, which may run slow by as much as it may run fast.
  const time_point until = later(renewed_at, 2 * ttl - settings_.when.of(ttl).safe_until);
  const bool was_lost = d != nullptr && d->lost;
  state::draining& now = taken_away(loss_reason::guard_gone, at.now, at, out);
  now.unseen_until = until;
  now.lost = was_lost;
}

/// The term of the workload that is starting, running or not yet dead; `no_version` if there is
/// none.
version election::workload_term() const {
  if (const auto* c = in<state::candidate>(); c != nullptr && c->found) return c->found->version;
  if (const auto* d = in<state::draining>(); d != nullptr && d->workload)
    return d->workload->version;
  const auto* a = in<state::active>();
  const bool runs = a != nullptr && a->workload != state::workload_state::none;
  return runs ? a->lease.version : no_version;
}

/// True from the grant to the drain, and while a found workload runs.
bool election::in_term() const {
  return view_.phase == phase::pending || view_.phase == phase::active || adopting();
}

void election::on(const moment& at, const event::workload_unhealthy&, effects& out) {
  healthy_ = false;
  if (in_term()) give_up(loss_reason::unhealthy, drained_by(at), at, out);
}

void election::on(const moment&, const event::workload_healthy&, effects&) {
  healthy_ = true;
}

void election::on(const moment& at, const event::guard_away& e, effects& out) {
  guarded_ = false;
  if (in_term()) give_up(e.why, drained_by(at), at, out);
}

void election::on(const moment&, const event::guard_back& e, effects&) {
  guarded_ = true;
  const auto* c = in<state::candidate>();
  const bool is_found = c != nullptr && c->found && c->found->version >= e.last_term;
  if (!is_found) remember(e.last_term);
}

}  // namespace tenure::core
