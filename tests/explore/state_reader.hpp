#pragma once

#include "core/guard.hpp"
#include "core/lease_group.hpp"

/// The whole state of the objects under test, to tell two of their states apart.
namespace tenure::core {

struct state_reader {
  // --- of an election --------------------------------------------------------------------------

  static const election_state& phase(const election& e) { return e.state_; }

  /// Instants that are only ever compared with the present.
  static void each_instant(const election& e, auto&& take) {
    take(e.aside_until_);
    take(e.heir_first_until_);
    take(e.rest_until_);
  }

  static void each_version(const election& e, auto&& take) {
    take(e.highest_seen_);
    take(e.ended_);
    take(e.inherited_);
    take(e.view_.regressed ? e.view_.regressed->seen : no_version);
  }

  /// What is neither, but for names, what operators have agreed, and when a phase or a watch began:
  /// in the little time that is explored nothing depends on that.
  static void each_number(const election& e, auto&& take) {
    take(e.view_.since == never);
    take(e.watch_failures_);
    take(e.healthy_);
    take(e.guarded_);
    take(e.unhealthy_terms_.last_pause_.count());
  }

  /// When it last looked at the clock. Counts only beside what it has just seen end.
  static time_point last_now(const election& e) { return e.last_now_; }

  // --- of a lease group
  // ------------------------------------------------------------------------------

  static void each_instant(const lease_group& s, auto&& take) {
    take(s.wakes_.front());
    take(s.batch_.empty() ? never : s.deadline_);
    take(s.due_);
  }
  static version renewing(const lease_group& s) {
    return s.batch_.empty() ? no_version : s.batch_.front().version;
  }
  static attempt renewal(const lease_group& s) { return s.number_; }
  static std::uint32_t failures(const lease_group& s) { return s.failures_; }

  // --- of a guard ------------------------------------------------------------------------------

  static void each_instant(const guard& g, auto&& take) {
    take(g.stop_at_);
    take(g.kill_at_);
    take(g.kill_by_);
    take(g.again_);
  }
};

}  // namespace tenure::core
