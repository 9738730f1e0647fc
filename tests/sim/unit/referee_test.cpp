#include "referee.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "unit/calm_world.hpp"

namespace tenure::sim {
namespace {

using namespace std::chrono_literals;
using core::loss_reason;
using core::phase;

constexpr core::version v5{5};
constexpr core::version v6{6};
/// The defaults: ttl 15 s, drift 150 ms, kill_budget 500 ms, grace 2 s.
constexpr core::duration kill_after = 14'350ms;
constexpr core::duration stop_after = 12'350ms;
constexpr core::duration kill_takes = 100ms;

world_time at(core::duration d) {
  return world_time(d);
}
core::time_point local(core::duration d) {
  return core::time_point(d);
}

/// A sequence that must be right, and then its last step done wrong. Clocks show true time.
struct Referee : testing::Test {
  mix drawn = calm_mix(store_family::expiring);
  referee judge{drawn};
  std::array<core::lease_group, 2> machines{core::lease_group(drawn.when),
                                            core::lease_group(drawn.when)};
  core::group_effects ignored;

  Referee() {
    for (std::size_t pod = 0; pod < 2; ++pod) {
      machines[pod].add({.identity = "p" + std::to_string(pod), .when = drawn.when});
      judge.agent_began(pod, &machines[pod], machine_clock({}, 0));
    }
  }

  rule broken() const { return judge.broken(); }

  /// Pod `pod` is granted `version` at `now` and runs its workload under it.
  void hold(std::size_t pod, core::version version, core::duration now) {
    enter(pod, version, now);
    run(pod, version, now);
  }
  void enter(std::size_t pod, core::version version, core::duration now) {
    judge.granted(at(now), 0, pod, version);
    judge.promised(0, pod, version, at(now + drawn.when.ttl));
    judge.began_term(at(now), pod, 0, version, local(now), drawn.when.ttl);
    judge.acknowledged(at(now), pod, 0, version, local(now), drawn.when.ttl, true);
    change(pod, now, phase::candidate, phase::active);
  }
  void run(std::size_t pod, core::version version, core::duration now) {
    judge.arms(at(now), pod, 0, version, local(now + kill_after));
    judge.starts(at(now), pod, 0, false);
    judge.workload_began(at(now), pod, 0, version, kill_takes);
  }
  void change(std::size_t pod, core::duration now, phase from, phase to,
              loss_reason why = loss_reason::none) {
    judge.changes(at(now), pod, 0, {.from = from, .to = to, .why = why});
  }
  void stop(loss_reason why, core::duration now = 2s) {
    change(0, now, phase::active, phase::draining, why);
  }
  /// Makes core itself say "I hold".
  void claim(std::size_t pod, core::version version, core::duration now) {
    const core::moment m{.now = local(now), .entropy = 1};
    const core::election_index first{0};
    machines[pod].step(m, first, core::event::started{}, ignored);
    machines[pod].step(m, first, core::event::observed{}, ignored);
    for (const core::addressed& c : ignored.commands) {
      const auto* const ask = std::get_if<core::command::acquire>(&c.what);
      if (ask == nullptr) continue;
      machines[pod].step(m, first,
                         core::event::granted{.number = ask->number,
                                              .version = version,
                                              .ttl = drawn.when.ttl,
                                              .sent_at = m.now,
                                              .released_cleanly = true},
                         ignored);
      break;
    }
    ASSERT_TRUE(judge.claims(at(now), pod, 0));
  }
};

TEST_F(Referee, FirstViolationStays) {
  judge.violated(rule::busy_loop, at(1s), 1, 0);
  judge.violated(rule::no_holder, at(2s), 0, 0);
  EXPECT_EQ(broken(), rule::busy_loop);
  EXPECT_EQ(judge.details(), "busy_loop: pod 1, election 0, at 1.000000 s");
}

TEST_F(Referee, TermAfterTermIsRight) {
  hold(0, v5, 1s);
  judge.asked(0, 0, loss_reason::resigned);
  stop(loss_reason::resigned);
  judge.workload_ended(at(3s), 0, 0);
  judge.releases(at(3s), 0, 0, false);
  judge.released(at(3s), 0, 0, v5);
  hold(1, v6, 4s);
  EXPECT_EQ(broken(), rule::none);
}

TEST_F(Referee, TwoWorkloadsInOneSlot) {
  hold(0, v5, 1s);
  judge.workload_began(at(2s), 1, 0, v6, kill_takes);
  EXPECT_EQ(broken(), rule::too_many_running);
}

TEST_F(Referee, TwoWorkloadsInTwoSlotsAreRight) {
  drawn.slots[0] = 2;
  hold(0, v5, 1s);
  hold(1, v6, 2s);
  EXPECT_EQ(broken(), rule::none);
}

TEST_F(Referee, TwoClaimsOfOneSlot) {
  claim(0, v5, 1s);
  judge.granted(at(2s), 0, 1, v6);
  EXPECT_EQ(broken(), rule::too_many_claims);
}

TEST_F(Referee, ClaimOfOneWhoCannotKnowIsExcusedUntilItIsTold) {
  claim(0, v5, 1s);
  judge.removed_by_operator(at(2s), 0, 0, v5);
  judge.granted(at(2s), 0, 1, v6);
  EXPECT_EQ(broken(), rule::none);
  judge.told_lost(at(3s), 0, 0, v5, true);
  judge.granted(at(4s), 0, 1, core::version{7});
  EXPECT_EQ(broken(), rule::too_many_claims);
}

TEST_F(Referee, SameVersionTwice) {
  judge.granted(at(1s), 0, 0, v5);
  judge.granted(at(2s), 0, 1, v5);
  EXPECT_EQ(broken(), rule::version_not_larger);
}

TEST_F(Referee, VersionsGrowAgainAfterARestore) {
  judge.granted(at(1s), 0, 0, v6);
  judge.versions_moved_back();
  judge.granted(at(2s), 0, 1, v5);
  EXPECT_EQ(broken(), rule::none);
  judge.granted(at(3s), 0, 0, v5);
  EXPECT_EQ(broken(), rule::version_not_larger);
}

TEST_F(Referee, TermUnderAVersionOlderThanOneSeen) {
  judge.saw_version(0, 0, v6);
  judge.versions_moved_back();
  enter(0, v5, 1s);
  EXPECT_EQ(broken(), rule::version_went_back);
}

TEST_F(Referee, TermUnderTheVersionOfAnother) {
  judge.saw_version(0, 0, v5);
  enter(0, v5, 1s);
  EXPECT_EQ(broken(), rule::version_went_back);
}

TEST_F(Referee, HolderThatTheResourceRefuses) {
  judge.wrote(at(1s), 0, 0, v6, true);
  judge.wrote(at(2s), 1, 0, v5, false);
  EXPECT_EQ(broken(), rule::none);
  judge.wrote(at(3s), 1, 0, v5, true);
  EXPECT_EQ(broken(), rule::holder_fenced_out);
}

TEST_F(Referee, ResourceMayRefuseWhatARestoredStoreGivesOutTwice) {
  judge.granted(at(1s), 0, 0, v6);
  judge.wrote(at(1s), 0, 0, v6, true);
  judge.versions_moved_back();
  judge.wrote(at(2s), 1, 0, v5, true);
  EXPECT_EQ(broken(), rule::none);
}

TEST_F(Referee, ReleaseOverARunningWorkload) {
  judge.releases(at(1s), 0, 0, true);
  EXPECT_EQ(broken(), rule::released_while_running);
}

TEST_F(Referee, LateReleaseMeetsARunningWorkload) {
  hold(0, v5, 1s);
  judge.released(at(2s), 0, 0, core::version{4});
  EXPECT_EQ(broken(), rule::none);
  judge.released(at(2s), 0, 0, v5);
  EXPECT_EQ(broken(), rule::released_in_use);
}

TEST_F(Referee, DeadlineBeyondThePromise) {
  enter(0, v5, 1s);
  judge.arms(at(1s), 0, 0, v5, local(1s + drawn.when.ttl - drawn.when.kill_budget));
  EXPECT_EQ(broken(), rule::none);
  judge.arms(at(1s), 0, 0, v5, local(1s + drawn.when.ttl - drawn.when.kill_budget + 1ms));
  EXPECT_EQ(broken(), rule::armed_beyond_promise);
}

TEST_F(Referee, DeadlineOfATermThatWasNeverGranted) {
  enter(0, v5, 1s);
  judge.arms(at(1s), 0, 0, v6, local(2s));
  EXPECT_EQ(broken(), rule::armed_beyond_promise);
}

TEST_F(Referee, DeadlineMovedAfterStopAt) {
  enter(0, v5, 1s);
  judge.arms(at(1s + stop_after), 0, 0, v5, local(1s + kill_after));
  EXPECT_EQ(broken(), rule::armed_after_stop_at);
}

TEST_F(Referee, WorkloadDeadByKillAtAndTheTimeOfAKillIsRight) {
  hold(0, v5, 1s);
  judge.workload_ended(at(1s + kill_after + kill_takes), 0, 0);
  EXPECT_EQ(broken(), rule::none);
}

TEST_F(Referee, WorkloadOutlivesItsLease) {
  hold(0, v5, 1s);
  judge.workload_ended(at(1s + kill_after + kill_takes + 1ms), 0, 0);
  EXPECT_EQ(broken(), rule::outlived_lease);
}

/// The guard kills within its first instant; a standstill is no excuse for more than that.
TEST_F(Referee, FrozenPodIsExcusedUntilItsGuardHasHadItsInstant) {
  hold(0, v5, 1s);
  judge.froze(at(2s), 0);
  hold(1, v6, 20s);
  EXPECT_EQ(broken(), rule::none);
  judge.thawed(at(21s), 0);
  judge.workload_ended(at(21s + kill_takes), 0, 0);
  EXPECT_EQ(broken(), rule::none);
}

TEST_F(Referee, FrozenPodThatWakesInTimeHasNoExcuse) {
  hold(0, v5, 1s);
  judge.froze(at(1500ms), 0);
  judge.thawed(at(2s), 0);
  judge.workload_began(at(2s), 1, 0, v6, kill_takes);
  EXPECT_EQ(broken(), rule::too_many_running);
}

TEST_F(Referee, LateNewsOfARemovalExcusesUntilAKillCouldHaveEndedIt) {
  hold(0, v5, 1s);
  judge.removed_by_operator(at(2s), 0, 0, v5);
  hold(1, v6, 3s);
  EXPECT_EQ(broken(), rule::none);
  judge.told_lost(at(4s), 0, 0, v5, true);
  judge.workload_began(at(5s), 1, 0, v6, kill_takes);
  EXPECT_EQ(broken(), rule::too_many_running);
}

TEST_F(Referee, RemovalExcusesNobodyFromLockDelay) {
  hold(0, v5, 1s);
  judge.removed_by_operator(at(2s), 0, 0, v5);
  hold(1, v6, 2s + drawn.when.lock_delay / 2);
  EXPECT_EQ(broken(), rule::too_many_running);
}

/// The next one began while it was excused, and nothing else begins afterwards.
TEST_F(Referee, ExcuseThatRunsOutLeavesOneTooMany) {
  hold(0, v5, 1s);
  judge.removed_by_operator(at(2s), 0, 0, v5);
  hold(1, v6, 3s);
  judge.told_lost(at(4s), 0, 0, v5, true);
  EXPECT_EQ(broken(), rule::none);
  judge.ends(at(5s));
  EXPECT_EQ(broken(), rule::too_many_running);
}

TEST_F(Referee, SoItDoesIfOneOfThemEndsInTheEnd) {
  hold(0, v5, 1s);
  judge.removed_by_operator(at(2s), 0, 0, v5);
  hold(1, v6, 3s);
  judge.told_lost(at(4s), 0, 0, v5, true);
  judge.workload_ended(at(5s), 1, 0);
  EXPECT_EQ(broken(), rule::too_many_running);
}

TEST_F(Referee, WorkloadDeadAfterTheNewsAndTheTimeOfAKillIsRight) {
  hold(0, v5, 1s);
  judge.removed_by_operator(at(2s), 0, 0, v5);
  judge.told_lost(at(3s), 0, 0, v5, true);
  judge.workload_ended(at(3s + drawn.socket_delay_most + kill_takes), 0, 0);
  EXPECT_EQ(broken(), rule::none);
}

TEST_F(Referee, WorkloadOutlivesTheNewsOfItsEnd) {
  hold(0, v5, 1s);
  judge.removed_by_operator(at(2s), 0, 0, v5);
  judge.told_lost(at(3s), 0, 0, v5, true);
  judge.workload_ended(at(3s + drawn.socket_delay_most + kill_takes + 1ms), 0, 0);
  EXPECT_EQ(broken(), rule::outlived_news);
}

TEST_F(Referee, EveryStopNeedsItsCause) {
  for (const loss_reason why :
       {loss_reason::renew_timeout, loss_reason::taken_over, loss_reason::revoked,
        loss_reason::session_invalid, loss_reason::version_regressed, loss_reason::ttl_too_short,
        loss_reason::unhealthy, loss_reason::resigned, loss_reason::preempted,
        loss_reason::shutdown, loss_reason::workload_exited, loss_reason::suspended}) {
    referee fresh(drawn);
    fresh.agent_began(0, &machines[0], machine_clock({}, 0));
    fresh.began_term(at(1s), 0, 0, v5, local(1s), drawn.when.ttl);
    fresh.acknowledged(at(1s), 0, 0, v5, local(1s), drawn.when.ttl, true);
    fresh.changes(at(1s), 0, 0, {.from = phase::candidate, .to = phase::active});
    fresh.changes(at(2s), 0, 0, {.from = phase::active, .to = phase::draining, .why = why});
    EXPECT_EQ(fresh.broken(), rule::stopped_without_cause) << core::name(why);
  }
}

TEST_F(Referee, StopAtStopAtAndAfterALossHaveTheirCause) {
  hold(0, v5, 1s);
  stop(loss_reason::renew_timeout, 1s + stop_after);
  EXPECT_EQ(broken(), rule::none);
  judge.told_lost(at(2s), 0, 0, v5, true);
  stop(loss_reason::revoked);
  EXPECT_EQ(broken(), rule::none);
}

TEST_F(Referee, SleepIsTheCauseOfWhatWouldHaveHeldWithoutIt) {
  hold(0, v5, 1s);
  judge.slept(at(1s + stop_after), 0, 5s);
  stop(loss_reason::suspended, 1s + stop_after);
  EXPECT_EQ(broken(), rule::none);
  stop(loss_reason::renew_timeout, 1s + stop_after);
  EXPECT_EQ(broken(), rule::stopped_without_cause);
}

TEST_F(Referee, SleepIsNoCauseForWhatHadEndedBefore) {
  hold(0, v5, 1s);
  judge.slept(at(10s + stop_after), 0, 5s);
  stop(loss_reason::renew_timeout, 10s + stop_after);
  EXPECT_EQ(broken(), rule::none);
  stop(loss_reason::suspended, 10s + stop_after);
  EXPECT_EQ(broken(), rule::stopped_without_cause);
}

TEST_F(Referee, SleepIsNoCauseForWhatStillHolds) {
  hold(0, v5, 1s);
  judge.slept(at(2s), 0, 500ms);
  stop(loss_reason::suspended, 2s);
  EXPECT_EQ(broken(), rule::stopped_without_cause);
}

/// Otherwise one resignation would be a cause for ever.
TEST_F(Referee, CauseIsUsedUpByTheNextTerm) {
  judge.asked(0, 0, loss_reason::resigned);
  hold(0, v5, 1s);
  stop(loss_reason::resigned);
  EXPECT_EQ(broken(), rule::stopped_without_cause);
}

TEST_F(Referee, LossOfAnotherTermIsNoCause) {
  hold(0, v6, 1s);
  judge.told_lost(at(2s), 0, 0, v5, true);
  stop(loss_reason::revoked);
  EXPECT_EQ(broken(), rule::stopped_without_cause);
}

TEST_F(Referee, TermWhoseEndTheWatchHasShownIsNotEntered) {
  judge.saw_state(0, 0, v6, v5);
  hold(0, v5, 1s);
  EXPECT_EQ(broken(), rule::none) << "the watch shows it";
  judge.saw_state(1, 0, v6, core::no_version);
  judge.began_term(at(2s), 1, 0, v6, local(2s), drawn.when.ttl);
  change(1, 2s, phase::candidate, phase::pending);
  EXPECT_EQ(broken(), rule::entered_lost_term);
}

TEST_F(Referee, GrantThatComesTooLateBeginsNothing) {
  judge.began_term(at(1h), 0, 0, v5, local(1s), drawn.when.ttl);
  judge.began_term(at(1h), 0, 0, core::version{4}, local(1h), drawn.when.ttl);
  judge.acknowledged(at(1h), 0, 0, core::version{4}, local(1h), drawn.when.ttl, true);
  change(0, 1h, phase::candidate, phase::active);
  EXPECT_EQ(broken(), rule::none);
}

TEST_F(Referee, ClaimBeyondTheLease) {
  claim(0, v5, 1s);
  judge.began_term(at(1s), 0, 0, v5, local(1s), drawn.when.ttl);
  judge.acknowledged(at(1s), 0, 0, v5, local(1s), drawn.when.ttl / 2, true);
  judge.check_claim(at(2s), 0, 0);
  EXPECT_EQ(broken(), rule::none);
  judge.check_claim(at(1s + stop_after - 1ms), 0, 0);
  EXPECT_EQ(broken(), rule::claim_beyond_lease);
}

TEST_F(Referee, CampaignInAShutdown) {
  judge.campaigns(at(1s), 0, 0, false);
  EXPECT_EQ(broken(), rule::none);
  judge.asked(0, 0, loss_reason::shutdown);
  judge.campaigns(at(2s), 0, 0, false);
  EXPECT_EQ(broken(), rule::campaign_in_shutdown);
}

TEST_F(Referee, CampaignOverThePreviousWorkload) {
  judge.campaigns(at(1s), 0, 0, true);
  EXPECT_EQ(broken(), rule::campaign_over_previous);
}

TEST_F(Referee, CampaignOverAnUnansweredRelease) {
  judge.releases(at(1s), 0, 0, false);
  judge.release_answered(0, 0);
  judge.campaigns(at(2s), 0, 0, false);
  EXPECT_EQ(broken(), rule::none);
  judge.releases(at(3s), 0, 0, false);
  judge.campaigns(at(4s), 0, 0, false);
  EXPECT_EQ(broken(), rule::campaign_over_release);
}

TEST_F(Referee, CampaignBeforeThePauseAfterAnUnhealthyTermIsOver) {
  std::uint64_t terms = 0;
  const auto unhealthy_term = [&](core::duration from) {
    judge.began_term(at(from), 0, 0, core::version{++terms}, local(from), drawn.when.ttl);
    change(0, from, phase::candidate, phase::active);
    judge.asked(0, 0, loss_reason::unhealthy);
    change(0, from + 1s, phase::active, phase::draining, loss_reason::unhealthy);
    change(0, from + 2s, phase::draining, phase::candidate, loss_reason::unhealthy);
  };
  unhealthy_term(0s);
  judge.campaigns(at(17s), 0, 0, false);
  unhealthy_term(18s);
  judge.campaigns(at(50s), 0, 0, false);
  EXPECT_EQ(broken(), rule::none);
  unhealthy_term(51s);
  judge.resumed(0, 0);
  judge.campaigns(at(54s), 0, 0, false);
  EXPECT_EQ(broken(), rule::none) << "an operator may send it back at once";
  unhealthy_term(55s);
  judge.campaigns(at(57s + 120s - 1ms), 0, 0, false);
  EXPECT_EQ(broken(), rule::campaign_too_soon) << "the fourth in a row: eight times the ttl";
}

TEST_F(Referee, StartOverThePreviousWorkload) {
  enter(0, v5, 1s);
  judge.starts(at(1s), 0, 0, true);
  EXPECT_EQ(broken(), rule::started_over_previous);
}

TEST_F(Referee, StartAtStopAt) {
  enter(0, v5, 1s);
  judge.starts(at(1s + stop_after), 0, 0, false);
  EXPECT_EQ(broken(), rule::started_late);
}

TEST_F(Referee, StepsWithoutEnd) {
  for (int i = 0; i < 3000; ++i) judge.stepped(at(1s), 0);
  EXPECT_EQ(broken(), rule::none);
  judge.stepped(at(1s), 0);
  EXPECT_EQ(broken(), rule::busy_loop);
}

}  // namespace
}  // namespace tenure::sim
