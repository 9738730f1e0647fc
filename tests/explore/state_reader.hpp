#pragma once

#include "core/guard.hpp"
#include "core/session.hpp"

/// The whole state of the objects under test, for whoever has to tell two of their states apart.
namespace tenure::core {

struct state_reader {
  // --- of an election --------------------------------------------------------------------------

  using operation = election::operation;
  static const operation& acquire(const election& e) { return e.acquire_; }
  static const operation& release(const election& e) { return e.release_; }

  /// Instants that are only ever compared with the present.
  static void each_instant(const election& e, auto&& take) {
    take(e.pending_until_);
    take(e.aside_until_);
    take(e.heir_first_until_);
    take(e.rest_until_);
    take(e.quiet_until_);
    take(e.unseen_until_);
    take(e.kill_by_);
    take(e.found_ ? e.found_->stop_at : never);
    take(e.found_ ? e.found_->kill_at : never);
  }

  static void each_version(const election& e, auto&& take) {
    take(e.highest_seen_);
    take(e.ended_);
    take(e.inherited_);
    take(e.work_ == election::work::none ? no_version : e.work_term_);
    take(e.found_ ? e.found_->term : no_version);
    take(e.view_.regressed ? e.view_.regressed->seen : no_version);
  }

  /// What is neither, but for names, what operators have agreed, and when a phase or a watch began:
  /// in the little time that is explored nothing depends on that.
  static void each_number(const election& e, auto&& take) {
    take(e.view_.phase);
    take(e.view_.since == never);
    take(e.work_);
    take(e.stuck_);
    take(e.why_);
    take(e.watch_failures_);
    take(e.healthy_);
    take(e.guarded_);
    take(e.ending_);
    take(e.clean_);
    take(e.gone_);
    take(e.maybe_held_);
    take(e.freed_meanwhile_);
    take(e.aside_.count());
    take(e.rest_.count());
    take(e.unhealthy_terms_.last_pause_.count());
    take(e.found_ ? e.found_->stopping : false);
    // When it last looked at the clock counts only beside these.
    take(e.view_.lease && e.last_now_ >= e.view_.lease->stop_at);
    take(e.last_now_ < e.quiet_until_);
    for (const operation* o : {&e.acquire_, &e.release_}) {
      take(o->state);
      take(o->failures);
    }
  }

  // --- of a session ------------------------------------------------------------------------------

  static void each_instant(const session& s, auto&& take) {
    take(s.wakes_.front());
    take(s.batch_.empty() ? never : s.deadline_);
    take(s.due_);
  }
  static version renewing(const session& s) {
    return s.batch_.empty() ? no_version : s.batch_.front().term;
  }
  static attempt renewal(const session& s) { return s.number_; }
  static std::uint32_t failures(const session& s) { return s.failures_; }

  // --- of a guard ------------------------------------------------------------------------------

  static void each_instant(const guard& g, auto&& take) {
    take(g.stop_at_);
    take(g.kill_at_);
    take(g.kill_by_);
    take(g.again_);
  }
};

}  // namespace tenure::core
