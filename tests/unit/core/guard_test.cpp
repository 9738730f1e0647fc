// The guard's decisions: every state x every call.
#include "core/guard.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace tenure::core {
namespace {

using namespace std::chrono_literals;

constexpr time_point t0 = time_point(100s);
constexpr core::version five{5};

std::string in_words(const guard_actions& a) {
  std::string all;
  for (const auto& [set, word] : {std::pair{a.kill, "kill"}, std::pair{a.terminate, "terminate"},
                                  std::pair{a.start, "start"}, std::pair{a.refused, "refused"}}) {
    if (set) all += (all.empty() ? "" : ", ") + std::string(word);
  }
  return all;
}

/// An agent that leaves no grace: both deadlines at once.
guard_actions armed(guard& g, time_point now, time_point kill_at) {
  return g.armed(now, kill_at, kill_at);
}

/// Runs term five until t0 + 10 s.
guard running() {
  guard g;
  EXPECT_EQ(in_words(armed(g, t0, t0 + 10s)), "");
  EXPECT_EQ(in_words(g.start_asked(t0, five)), "start");
  return g;
}

guard stopping(time_point kill_by = t0 + 5s) {
  guard g = running();
  EXPECT_EQ(in_words(g.stop_asked(t0, kill_by)), "terminate");
  return g;
}

guard killing() {
  guard g = running();
  EXPECT_EQ(in_words(g.woke(t0 + 10s)), "kill");
  return g;
}

TEST(GuardEmpty, RefusesToStartWhatWasNeverArmed) {
  guard g;
  EXPECT_EQ(in_words(g.start_asked(t0, five)), "refused");
  EXPECT_EQ(g.current(), guard::state::empty);
}

TEST(GuardEmpty, RefusesToStartFromKillAtOn) {
  guard g;
  static_cast<void>(armed(g, t0, t0 + 1s));
  EXPECT_EQ(in_words(g.start_asked(t0 + 1s, five)), "refused");
  EXPECT_EQ(in_words(g.start_asked(t0 + 2s, five)), "refused");
}

TEST(GuardEmpty, RefusesToStartFromStopAtOn) {
  guard g;
  static_cast<void>(g.armed(t0, t0 + 1s, t0 + 2s));
  EXPECT_EQ(in_words(g.start_asked(t0 + 1s, five)), "refused");
}

TEST(GuardEmpty, StartsUntilKillAt) {
  guard g;
  static_cast<void>(armed(g, t0, t0 + 1s));
  EXPECT_EQ(in_words(g.start_asked(t0 + 1s - 1ns, five)), "start");
  EXPECT_EQ(g.current(), guard::state::running);
  EXPECT_EQ(g.version(), five);
}

TEST(GuardEmpty, HasNothingToStopOrKill) {
  guard g;
  EXPECT_EQ(in_words(armed(g, t0, t0 - 1s)), "");
  EXPECT_EQ(in_words(g.stop_asked(t0, t0)), "");
  EXPECT_EQ(in_words(g.leader_gone(t0, t0)), "");
  EXPECT_EQ(in_words(g.woke(t0 + 1h)), "");
  g.emptied();
  EXPECT_EQ(g.current(), guard::state::empty);
  EXPECT_EQ(g.next_wake(), never);
}

TEST(GuardRunning, KillsAtKillAtWhateverHasBecomeOfTheAgent) {
  guard g = running();
  EXPECT_EQ(g.next_wake(), t0 + 10s);
  EXPECT_EQ(in_words(g.woke(t0 + 10s - 1ns)), "");
  EXPECT_EQ(in_words(g.woke(t0 + 10s)), "kill");
  EXPECT_EQ(g.current(), guard::state::killing);
}

TEST(GuardRunning, RenewalMovesTheDeadline) {
  guard g = running();
  EXPECT_EQ(in_words(armed(g, t0 + 5s, t0 + 15s)), "");
  EXPECT_EQ(in_words(g.woke(t0 + 10s)), "");
  EXPECT_EQ(g.next_wake(), t0 + 15s);
}

TEST(GuardRunning, NewestDeadlineCountsAlsoWhereItIsEarlier) {
  guard g = running();
  EXPECT_EQ(in_words(armed(g, t0, t0 + 3s)), "");
  EXPECT_EQ(g.next_wake(), t0 + 3s);
  EXPECT_EQ(in_words(armed(g, t0 + 4s, t0 + 4s)), "kill") << "a deadline that has passed is due";
}

TEST(GuardRunning, SecondStartIsRefused) {
  guard g = running();
  EXPECT_EQ(in_words(g.start_asked(t0, core::version{6})), "refused");
  EXPECT_EQ(g.version(), five);
}

TEST(GuardRunning, StopIsTermNowAndKillLater) {
  guard g = running();
  EXPECT_EQ(in_words(g.stop_asked(t0 + 1s, t0 + 3s)), "terminate");
  EXPECT_EQ(g.current(), guard::state::stopping);
  EXPECT_EQ(g.next_wake(), t0 + 3s);
  EXPECT_EQ(in_words(g.woke(t0 + 3s)), "kill");
}

TEST(GuardRunning, StopWhoseTimeHasPassedKillsAtOnce) {
  guard g = running();
  EXPECT_EQ(in_words(g.stop_asked(t0 + 1s, t0 + 1s)), "kill, terminate");
  EXPECT_EQ(g.current(), guard::state::killing);
}

TEST(GuardRunning, AsksTheWorkloadToEndAtStopAtWhoeverIsThere) {
  guard g = running();
  EXPECT_EQ(in_words(g.armed(t0, t0 + 8s, t0 + 10s)), "");
  EXPECT_EQ(g.next_wake(), t0 + 8s);
  EXPECT_EQ(in_words(g.woke(t0 + 8s - 1ns)), "");
  EXPECT_EQ(in_words(g.woke(t0 + 8s)), "terminate");
  EXPECT_EQ(g.current(), guard::state::stopping);
  EXPECT_EQ(g.next_wake(), t0 + 10s);
  EXPECT_EQ(in_words(g.woke(t0 + 10s)), "kill");
}

TEST(GuardRunning, WokenLateForBothItKills) {
  guard g = running();
  static_cast<void>(g.armed(t0, t0 + 8s, t0 + 10s));
  EXPECT_EQ(in_words(g.woke(t0 + 10s)), "kill");
}

TEST(GuardRunning, AgentsOwnStopOrderCountsOnceTheGuardHasAsked) {
  guard g = running();
  static_cast<void>(g.armed(t0, t0 + 8s, t0 + 10s));
  static_cast<void>(g.woke(t0 + 8s));
  EXPECT_EQ(in_words(g.stop_asked(t0 + 8s, t0 + 9s)), "") << "it was asked already";
  EXPECT_EQ(g.next_wake(), t0 + 9s);
}

TEST(GuardRunning, DeadLeaderStopsTheRest) {
  guard g = running();
  EXPECT_EQ(in_words(g.leader_gone(t0, t0 + 2s)), "terminate");
  EXPECT_EQ(g.next_wake(), t0 + 2s);
}

TEST(GuardRunning, ExitByItselfLeavesNothingToWakeFor) {
  guard g = running();
  g.emptied();
  EXPECT_EQ(g.current(), guard::state::empty);
  EXPECT_EQ(g.next_wake(), never);
}

TEST(GuardStopping, SecondOrderMayOnlyShortenTheTime) {
  guard g = stopping(t0 + 5s);
  EXPECT_EQ(in_words(g.stop_asked(t0, t0 + 9s)), "");
  EXPECT_EQ(g.next_wake(), t0 + 5s);
  EXPECT_EQ(in_words(g.stop_asked(t0, t0 + 2s)), "");
  EXPECT_EQ(g.next_wake(), t0 + 2s);
  EXPECT_EQ(in_words(g.stop_asked(t0, t0 + 1s)), "");
  EXPECT_EQ(in_words(g.leader_gone(t0 + 1s, t0 + 3s)), "kill") << "one second is over";
}

TEST(GuardStopping, KillAtComesFirstThoughTheDrainIsLonger) {
  guard g = stopping(t0 + 1h);
  EXPECT_EQ(g.next_wake(), t0 + 10s);
  EXPECT_EQ(in_words(g.woke(t0 + 10s)), "kill");
}

TEST(GuardStopping, RenewalsCarryTheDrainOn) {
  guard g = stopping(t0 + 20s);
  EXPECT_EQ(in_words(armed(g, t0 + 5s, t0 + 15s)), "");
  EXPECT_EQ(g.next_wake(), t0 + 15s);
  static_cast<void>(armed(g, t0 + 10s, t0 + 30s));
  EXPECT_EQ(g.next_wake(), t0 + 20s) << "and no further than the order";
}

TEST(GuardStopping, StartIsRefusedUntilItsDeathIsObserved) {
  guard g = stopping();
  EXPECT_EQ(in_words(g.start_asked(t0, core::version{6})), "refused");
}

TEST(GuardKilling, RepeatsUntilNothingIsLeft) {
  guard g = killing();
  const time_point again = g.next_wake();
  EXPECT_GT(again, t0 + 10s);
  EXPECT_LE(again, t0 + 10s + 50ms);
  EXPECT_EQ(in_words(g.woke(again - 1ns)), "");
  EXPECT_EQ(in_words(g.woke(again)), "kill");
  EXPECT_GT(g.next_wake(), again);
}

TEST(GuardKilling, NothingCallsItOff) {
  guard g = killing();
  EXPECT_EQ(in_words(armed(g, t0 + 10s, t0 + 1h)), "");
  EXPECT_EQ(in_words(g.stop_asked(t0 + 10s, t0 + 1h)), "");
  EXPECT_EQ(in_words(g.leader_gone(t0 + 10s, t0 + 1h)), "");
  EXPECT_EQ(in_words(g.start_asked(t0 + 10s, core::version{6})), "refused");
  EXPECT_EQ(g.current(), guard::state::killing);
  EXPECT_EQ(in_words(g.woke(t0 + 11s)), "kill");
}

TEST(GuardKilling, DeadlineIsForgottenWithTheDead) {
  guard g = killing();
  static_cast<void>(armed(g, t0 + 10s, t0 + 1h));
  g.emptied();
  EXPECT_EQ(in_words(g.start_asked(t0 + 11s, core::version{6})), "refused") << "arm it again first";
  static_cast<void>(armed(g, t0 + 11s, t0 + 20s));
  EXPECT_EQ(in_words(g.start_asked(t0 + 11s, core::version{6})), "start");
  EXPECT_EQ(g.next_wake(), t0 + 20s) << "nothing of the last order is left";
  EXPECT_EQ(g.version(), core::version{6});
}

}  // namespace
}  // namespace tenure::core
