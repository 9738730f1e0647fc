#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include "base/boot_time.hpp"
#include "stage.hpp"

namespace tenure::tests {
namespace {

const std::string polite =
    "trap 'echo told >> $DIR/told; exit 0' TERM; touch $DIR/up; while :; do sleep 0.01; done";
const std::string deaf = "trap '' TERM; touch $DIR/up; while :; do sleep 0.01; done";

/// Starts a workload in term seven with an hour left, then kills its agent.
pid_t start_and_kill_agent(stage& s, agent_line& agent) {
  const pid_t leader = agent.start(7, s.mark());
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  EXPECT_EQ(::kill(agent.pid(), SIGKILL), 0);
  return leader;
}

TEST(GuardAgentLoss, ACrashLeavesTheWorkloadToAnotherAgentWithTheSameSession) {
  stage s(stage::shell(polite));
  auto first = s.agent();
  EXPECT_EQ(first.found(), "nothing");
  const pid_t leader = start_and_kill_agent(s, first);
  auto second = s.agent();
  EXPECT_NE(second.pid(), first.pid());
  EXPECT_EQ(second.found(), "running 7");
  EXPECT_EQ(second.session(), first.session());
  EXPECT_EQ(second.session().size(), 32U);
  // It belongs to the second agent now.
  second.tell("arm 7 3600000");
  EXPECT_TRUE(eventually([&] {
    second.tell("acknowledged");
    return second.hear() == "acknowledged yes";
  }));
  EXPECT_TRUE(runs(leader));
  EXPECT_FALSE(s.has("told"));
  second.tell("stop 15 3600000");
  EXPECT_EQ(second.hear(), "exited 0");
  EXPECT_FALSE(runs(leader));
}

TEST(GuardAgentLoss, WhatItLeavesIsToldToEndAtItsDeadlineIfNobodyRenews) {
  stage s(stage::shell(polite));
  auto agent = s.agent();
  const pid_t leader = agent.start(7, s.mark());
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  // Would end at once without the grace.
  agent.tell("arm 7 3600000 3599500");
  agent.tell("acknowledged");
  agent.hear("acknowledged");
  ASSERT_EQ(::kill(agent.pid(), SIGKILL), 0);
  EXPECT_TRUE(eventually([&] { return !runs(leader); }));
  EXPECT_EQ(s.read("told"), "told\n");
}

TEST(GuardAgentLoss, ACrashLeavesADeafWorkloadNoMoreThanItsDeadline) {
  stage s(stage::shell(deaf));
  auto agent = s.agent();
  agent.start(7, s.mark());
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  agent.tell("arm 7 1000");
  agent.tell("acknowledged");
  agent.hear("acknowledged");
  ASSERT_EQ(::kill(agent.pid(), SIGKILL), 0);
  auto second = s.agent();
  EXPECT_TRUE(eventually([&] { return s.marked().empty(); }));
  if (second.found() != "nothing") EXPECT_EQ(second.hear(), "exited " + std::to_string(SIGKILL));
}

TEST(GuardAgentLoss, AgentIsNotStartedWhileSomethingIsBeingStopped) {
  stage s(
      stage::shell("trap 'touch $DIR/told; while [ ! -e $DIR/go ]; do sleep 0.01; done; exit 0' "
                   "TERM; touch $DIR/up; while :; do sleep 0.01; done"));
  auto first = s.agent();
  const pid_t leader = first.start(7, s.mark());
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  first.tell("stop 15 3600000");
  EXPECT_TRUE(eventually([&] { return s.has("told"); }));
  ASSERT_EQ(::kill(first.pid(), SIGKILL), 0);
  EXPECT_TRUE(eventually([&] { return s.read("stderr").find("was killed") != std::string::npos; }));
  EXPECT_TRUE(runs(leader)) << "its drain is not over";
  std::ofstream(s.directory() / "go");
  auto second = s.agent();
  EXPECT_FALSE(runs(leader));
  EXPECT_EQ(second.found(), "nothing");
  EXPECT_EQ(second.session(), first.session());
  // The dead agent's deadlines do not count.
  second.tell("start 7");
  EXPECT_EQ(second.hear(), "refused 7");
  second.start(8);
}

TEST(GuardAgentLoss, WorkloadThatEndsMeanwhileIsReportedToTheNextAgent) {
  // The workload ends as soon as the guard has reaped the agent.
  stage s(stage::shell("touch $DIR/up; while kill -0 $AGENT; do :; done 2>/dev/null; exit 5"));
  auto first = s.agent();
  first.start(7, "AGENT=" + std::to_string(first.pid()));
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  ASSERT_EQ(::kill(first.pid(), SIGKILL), 0);
  auto second = s.agent();
  EXPECT_EQ(second.found(), "ended 7 " + std::to_string(5 << 8));
  EXPECT_EQ(second.session(), first.session());
  ASSERT_EQ(::kill(second.pid(), SIGKILL), 0);
  auto third = s.agent();
  EXPECT_EQ(third.found(), second.found()) << "and to each, until one of them ends the guard";
}

TEST(GuardAgentLoss, SessionOfTheFirstAgentIsThatOfAllThatFollow) {
  stage s(stage::shell(polite));
  auto first = s.agent();
  ASSERT_EQ(::kill(first.pid(), SIGKILL), 0);
  auto second = s.agent();
  EXPECT_EQ(second.session(), first.session()) << "also if it has never started anything";
  second.start(7);
  second.tell("stop 15 3600000");
  second.hear("exited");
  ASSERT_EQ(::kill(second.pid(), SIGKILL), 0);
  auto third = s.agent();
  EXPECT_EQ(third.session(), first.session());
  EXPECT_EQ(third.found(), "nothing");
}

TEST(GuardAgentLoss, NewestTermThatWasGrantedOutlivesTheAgent) {
  stage s(stage::shell(polite));
  auto first = s.agent();
  EXPECT_EQ(first.last_term(), 0);
  first.tell("granted 8");
  EXPECT_EQ(first.hear(), "noted");
  first.tell("granted 7");
  EXPECT_EQ(first.hear(), "noted");
  ASSERT_EQ(::kill(first.pid(), SIGKILL), 0);
  auto second = s.agent();
  EXPECT_EQ(second.last_term(), 8);
  // An operator has accepted that versions restart lower.
  second.tell("forget 4");
  EXPECT_EQ(second.hear(), "forgotten");
  ASSERT_EQ(::kill(second.pid(), SIGKILL), 0);
  EXPECT_EQ(s.agent().last_term(), 4);
}

TEST(GuardAgentLoss, CrashesInARowAreSurvived) {
  stage s(stage::shell("exit 0"));
  for (int crash = 0; crash < 4; ++crash) ASSERT_EQ(::kill(s.agent().pid(), SIGABRT), 0);
  auto agent = s.agent();
  agent.start(7);
  EXPECT_EQ(agent.hear(), "exited 0");
}

TEST(GuardAgentLoss, CrashesInARowLeaveTheWorkloadAlone) {
  stage s(stage::shell(deaf));
  auto agent = s.agent();
  const pid_t leader = start_and_kill_agent(s, agent);
  for (int crash = 0; crash < 3; ++crash) {
    auto next = s.agent();
    EXPECT_EQ(next.found(), "running 7");
    ASSERT_EQ(::kill(next.pid(), SIGKILL), 0);
  }
  EXPECT_EQ(s.agent().session(), agent.session());
  EXPECT_TRUE(runs(leader));
}

TEST(GuardAgentLoss, WithoutAnAgentTermEndsTheGuardAndTheWorkload) {
  stage s(stage::shell(deaf));
  auto agent = s.agent();
  start_and_kill_agent(s, agent);
  EXPECT_TRUE(eventually([&] { return s.read("stderr").find("was killed") != std::string::npos; }));
  // The deadline is an hour away; the guard's own grace is what counts now.
  s.signal_guard(SIGTERM);
  EXPECT_EQ(s.end(), 128 + SIGKILL);
  EXPECT_TRUE(s.marked().empty());
}

TEST(GuardAgentLoss, GarbageOnTheSocketChangesNothing) {
  stage s(stage::shell("exec sleep 1000"));
  auto agent = s.agent();
  const pid_t leader = agent.start(7);
  for (int seed = 1; seed <= 5; ++seed) {
    agent.tell("garbage " + std::to_string(seed) + " 5000");
    agent.hear("sent");
  }
  EXPECT_TRUE(runs(leader));
  agent.tell("stop 15 3600000");
  agent.hear("exited " + std::to_string(SIGTERM));
}

TEST(GuardAgentLoss, AnAgentThatDoesNotReadCannotBlockTheGuard) {
  stage s(stage::shell("trap '' TERM; touch $DIR/up; while :; do sleep 0.01; done"));
  auto agent = s.agent();
  const pid_t leader = agent.start(7);
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  // Each is refused; nobody reads the answers, so the socket is full by now.
  agent.tell("starts 20000");
  agent.hear("sent");
  ASSERT_EQ(::kill(agent.pid(), SIGSTOP), 0);
  s.signal_guard(SIGINT);
  s.signal_guard(SIGQUIT);
  EXPECT_TRUE(eventually([&] { return !runs(leader); }));
  ASSERT_EQ(::kill(agent.pid(), SIGCONT), 0);
  agent.hear("exited " + std::to_string(SIGKILL));
  // The guard still reacts.
  s.signal_guard(SIGTERM);
  agent.hear("signalled " + std::to_string(SIGTERM));
}

TEST(GuardAllocation, IsTrappedInEveryGuardOfTheseTests) {
  const int status = std::system(GUARD_STAGE " allocate 2>/dev/null");
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 0) GTEST_SKIP() << "built with a sanitizer, which allocates itself";
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGABRT);
}

}  // namespace
}  // namespace tenure::tests
