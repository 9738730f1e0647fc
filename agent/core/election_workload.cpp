#include <utility>

#include "core/election.hpp"

/// The part of an election that is about its workload and the guard of that.
namespace tenure::core {

// --- found running ---------------------------------------------------------------------------

void election::on(const moment& at, const event::workload_found& e, effects& out) {
  TENURE_CHECK(e.term != no_version);
  if (view_.phase != phase::candidate || work_ != work::none) return;
  work_ = e.stopping ? work::stopping : work::running;
  work_term_ = e.term;
  view_.workload_running = true;
  found_ = e;
  if (e.stopping) found_->stop_at = never;  // the guard sees to its end
  maybe_held_ = true;
  // Its term may be the next that is granted to us, unless it was told to end, but nothing older.
  inherited_ = e.term;
  remember(e.stopping ? e.term : version{number(e.term) - 1});
  out.add(command::publish{});
  if (view_.since != never && acquire_.state != call::flying) {
    acquire_ = {.state = call::waiting, .at = at.now, .failures = acquire_.failures};
  }
  // Standing aside, we are about to release what it needs.
  if (!may_campaign(at.now) || release_.state != call::idle) {
    give_up(why_aside(), drained_by(at), at, out);
  }
}

/// The store has confirmed the term of what runs. It was started when lock_delay had passed.
void election::adopt(const moment& at, effects& out) {
  found_.reset();
  clean_ = true;
  enter(phase::active, loss_reason::none, at, out);
  arm(out);
}

void election::arm(effects& out) const {
  out.add(command::arm{
      .term = view_.lease->term, .stop_at = view_.lease->stop_at, .kill_at = view_.lease->kill_at});
}

// --- what becomes of it ----------------------------------------------------------------------

void election::on(const moment&, const event::workload_started& e, effects& out) {
  if (work_ != work::starting || !view_.lease || e.term != view_.lease->term) return;
  work_ = work::running;
  view_.workload_running = true;
  out.add(command::publish{});
}

void election::on(const moment& at, const event::workload_exited&, effects& out) {
  if (work_ == work::none) return;
  work_ = work::none;
  kill_by_ = never;
  stuck_ = false;
  view_.workload_running = false;
  out.add(command::publish{});
  const auto found = std::exchange(found_, std::nullopt);
  const bool by_itself = found && !found->stopping;
  if (view_.phase == phase::active || by_itself) {
    give_up(loss_reason::workload_exited, at.now, at, out);
  } else if (found) {
    release_first(at);
  }
}

/// It is not released either before it is dead. It runs nothing of its own any more, but what it
/// has asked of the kernel may yet be carried out: against that there is the version.
void election::on(const moment&, const event::workload_stuck&, effects&) {
  stuck_ = stuck_ || (view_.phase == phase::draining && work_ == work::stopping);
}

void election::on(const moment& at, const event::workload_unseen&, effects& out) {
  if (work_ == work::none || (!holding() && !maybe_held_)) return;
  // What was found may have been renewed by a try to acquire, until that was given up.
  const duration ttl = holding() ? view_.lease->ttl : settings_.when.ttl;
  const time_point renewed_at =
      holding() ? view_.lease->sent_at : later(at.now, settings_.when.try_timeout());
  // By the store's clock, which may be slower than ours by as much as it may be faster.
  unseen_until_ = later(renewed_at, 2 * ttl - settings_.when.of(ttl).safe_until);
  gone_ = true;
  if (view_.phase == phase::draining) {
    stop_work(at.now, loss_reason::guard_gone, out);
  } else {
    give_up(loss_reason::guard_gone, at.now, at, out);
  }
}

void election::on(const moment& at, const event::workload_unhealthy&, effects& out) {
  healthy_ = false;
  if (view_.phase == phase::pending || view_.phase == phase::active || found_) {
    give_up(loss_reason::unhealthy, drained_by(at), at, out);
  }
}

void election::on(const moment&, const event::workload_healthy&, effects&) {
  healthy_ = true;
}

void election::on(const moment& at, const event::guard_away&, effects& out) {
  guarded_ = false;
  if (view_.phase == phase::pending || view_.phase == phase::active || found_) {
    give_up(loss_reason::guard_gone, drained_by(at), at, out);
  }
}

void election::on(const moment&, const event::guard_back&, effects&) {
  guarded_ = true;
}

void election::stop_work(time_point kill_by, loss_reason why, effects& out) {
  if (work_ == work::none) return;
  if (work_ == work::stopping && kill_by >= kill_by_) return;
  work_ = work::stopping;
  kill_by_ = kill_by;
  out.add(command::stop_workload{.kill_by = kill_by, .why = why});
}

}  // namespace tenure::core
