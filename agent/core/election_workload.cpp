#include <utility>

#include "core/check.hpp"
#include "core/election.hpp"

/// The part of an election that is about its workload and the guard of that.
namespace tenure::core {

// --- found running ---------------------------------------------------------------------------

void election::on(const moment& at, const event::workload_found& e, effects& out) {
  TENURE_CHECK(e.version != no_version);
  auto* c = in<state::candidate>();
  if (c == nullptr || c->found) return;
  c->found = e;
  if (e.stopping) c->found->stop_at = never;  // the guard sees to its end
  c->maybe_held = true;
  // Its term may be the next that is granted to us, unless it was told to end, but nothing older.
  inherited_ = e.version;
  remember(e.stopping ? e.version : core::version{number(e.version) - 1});
  out.add(command::publish{});
  auto* pause = std::get_if<state::pause>(&c->acquire);
  if (pause != nullptr && view_.since != never) pause->until = at.now;
  // Standing aside, we are about to release what it needs.
  if (!may_campaign(at.now) || !std::holds_alternative<std::monostate>(c->release)) {
    give_up(why_aside(), drained_by(at), at, out);
  }
}

void election::arm(const core::lease& by, effects& out) {
  out.add(command::arm{.version = by.version, .stop_at = by.stop_at, .kill_at = by.kill_at});
}

// --- what becomes of it ----------------------------------------------------------------------

void election::on(const moment&, const event::workload_started& e, effects& out) {
  auto* a = in<state::active>();
  if (a == nullptr || a->workload != state::workload_state::starting) return;
  if (e.version != a->lease.version) return;
  a->workload = state::workload_state::running;
  out.add(command::publish{});
}

void election::on(const moment& at, const event::workload_exited&, effects& out) {
  if (workload_term() == no_version) return;
  out.add(command::publish{});
  if (auto* c = in<state::candidate>()) {
    const bool stopping = c->found->stopping;
    c->found.reset();
    if (stopping) return release_first(*c, at);
  }
  if (auto* a = in<state::active>()) a->workload = state::workload_state::none;
  if (auto* d = in<state::draining>()) {
    d->workload.reset();
  } else {
    give_up(loss_reason::workload_exited, at.now, at, out);
  }
}

/// It is not released either before it is dead. It runs nothing of its own any more, but what it
/// has asked of the kernel may yet be carried out: against that there is the version.
void election::on(const moment&, const event::workload_stuck&, effects&) {
  if (auto* d = in<state::draining>(); d != nullptr && d->workload) d->workload->stuck = true;
}

void election::on(const moment& at, const event::workload_unseen&, effects& out) {
  const auto* c = in<state::candidate>();
  const auto* d = in<state::draining>();
  const core::lease* lease = held();
  const bool maybe_held = (c != nullptr && c->maybe_held) || (d != nullptr && d->maybe_held);
  if (workload_term() == no_version || (lease == nullptr && !maybe_held)) return;
  // What was found may have been renewed by a try to acquire, until that was given up.
  const duration ttl = lease != nullptr ? lease->ttl : settings_.when.ttl;
  const time_point renewed_at =
      lease != nullptr ? lease->sent_at : later(at.now, settings_.when.try_timeout());
  // By the store's clock, which may be slower than ours by as much as it may be faster.
  const time_point until = later(renewed_at, 2 * ttl - settings_.when.of(ttl).safe_until);
  taken_away(loss_reason::guard_gone, at.now, at, out).unseen_until = until;
}

/// The term of what runs, is about to, or is not dead yet; `no_version` if there is no workload.
version election::workload_term() const {
  if (const auto* c = in<state::candidate>(); c != nullptr && c->found) return c->found->version;
  if (const auto* d = in<state::draining>(); d != nullptr && d->workload)
    return d->workload->version;
  const auto* a = in<state::active>();
  const bool runs = a != nullptr && a->workload != state::workload_state::none;
  return runs ? a->lease.version : no_version;
}

/// True from the grant to the drain, and while what was found runs.
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

void election::on(const moment& at, const event::guard_away&, effects& out) {
  guarded_ = false;
  if (in_term()) give_up(loss_reason::guard_gone, drained_by(at), at, out);
}

void election::on(const moment&, const event::guard_back&, effects&) {
  guarded_ = true;
}

}  // namespace tenure::core
