#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>
#include <string>

#include "pod.hpp"
#include "support/eventually.hpp"

/// If cgroups tell nothing: a match, its descendants, and its session.
namespace tenure::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class TargetTree : public testing::Test {
 protected:
  void SetUp() override {
    if (!pod_.missing().empty()) GTEST_SKIP() << pod_.missing();
  }

  static void kill_until_empty(actor& finder) { EXPECT_EQ(killed(finder), nothing_left); }

  pod pod_;
};

TEST_F(TargetTree, NothingMatchesUntilTheMainContainerStarts) {
  auto finder = pod_.finder("command_line", "sleep 1000");
  EXPECT_EQ(finder->ask("look"), nothing_left);
  const pid_t main = pod_.start_program('b', "sleep 1000");
  EXPECT_TRUE(eventually([&] { return finder->ask("look").starts_with("left=1 matching=1 "); }));
  EXPECT_THAT(finder->ask("members"), StartsWith(std::to_string(main)));
}

TEST_F(TargetTree, AMatchItsChildrenAndItsSessionDieAndNobodyElse) {
  const pid_t stranger = pod_.start_script('c', "echo $$; sleep 1000");
  const pid_t shell = pod_.start_script(
      'b', "trap '' TERM; sleep 1000 & setsid sleep 1000 & (sleep 1000 &) ; echo $$; wait");
  auto finder = pod_.finder("command_line", "sh -c trap");
  EXPECT_TRUE(eventually([&] { return finder->ask("look").starts_with("left=4 matching=1 "); }));
  EXPECT_THAT(finder->ask("term"), HasSubstr("denied=0"));
  EXPECT_TRUE(pod_.runs(shell)) << "it ignores SIGTERM";
  kill_until_empty(*finder);
  EXPECT_FALSE(pod_.runs(shell));
  EXPECT_TRUE(pod_.runs(stranger));
  EXPECT_TRUE(pod_.runs(1));
}

TEST_F(TargetTree, WhatBelongedStillDoesWhenItsParentIsGone) {
  const pid_t shell = pod_.start_script(
      'b', "setsid sh -c 'while :; do sleep 0.05; done' & echo $$; exec sleep 1000");
  auto finder = pod_.finder("command_line", "sleep 1000");
  EXPECT_TRUE(eventually([&] { return finder->ask("look").starts_with("left=3 "); }));
  pod_.signal(shell, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !pod_.runs(shell); }));
  // The processes it forks now were never seen together with the match.
  EXPECT_TRUE(eventually([&] { return finder->ask("look").starts_with("left=2 matching=0 "); }));
  kill_until_empty(*finder);
}

TEST_F(TargetTree, OneThatHasGivenItselfAnotherCommandLineIsStillTheOne) {
  const pid_t shell = pod_.start_script(
      'b', "echo $$; until [ -e " + pod_.file("go") + " ]; do sleep 0.01; done; exec sleep 1000");
  auto finder = pod_.finder("command_line", "sh -c echo");
  EXPECT_TRUE(eventually([&] { return finder->ask("look").contains(" matching=1 "); }));
  pod_.write("go", "");
  auto other = pod_.finder("command_line", "sleep 1000");
  EXPECT_TRUE(eventually([&] { return other->ask("look").starts_with("left=1 matching=1 "); }));
  EXPECT_THAT(finder->ask("look"), StartsWith("left=1 "));
  kill_until_empty(*finder);
  EXPECT_FALSE(pod_.runs(shell));
}

TEST_F(TargetTree, AZombieIsDead) {
  const pid_t parent = pod_.start_script('b', "echo $$; exec " TARGET_STAGE " neglect sleep 1000");
  auto finder = pod_.finder("executable", "sleep");
  EXPECT_TRUE(eventually([&] { return finder->ask("look").starts_with("left=2 matching=1 "); }));
  const std::string members = finder->ask("members");
  const pid_t child = std::atoi(members.c_str());
  ASSERT_NE(child, parent);
  auto anew = pod_.finder("executable", "sleep");
  pod_.signal(child, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !pod_.runs(child); }));
  EXPECT_EQ(anew->ask("look"), nothing_left);
}

TEST_F(TargetTree, AProcessWhoseFirstThreadHasEndedIsNotDead) {
  const pid_t headless = pod_.start_script('b', "exec " TARGET_STAGE " headless");
  auto finder = pod_.finder("executable", "target_stage");
  // The finder runs the same program and is not taken for the target.
  EXPECT_THAT(finder->ask("look"), StartsWith("left=1 matching=1 "));
  pod_.signal(headless, SIGUSR1);
  EXPECT_TRUE(eventually([&] {
    finder->ask("look");
    return finder->ask("members").starts_with(std::to_string(headless) + "Z");
  }));
  EXPECT_TRUE(finder->ask("look").starts_with("left=1 matching=1 "));
  // Its other threads show what it is, even to a finder that has not seen it before.
  auto anew = pod_.finder("command_line", TARGET_STAGE " headless");
  EXPECT_TRUE(anew->ask("look").starts_with("left=1 matching=1 "));
  kill_until_empty(*anew);
}

TEST_F(TargetTree, OneThatHangsInTheKernelIsLeftAndSaidToBeStuck) {
  pod_.start_script('b', "echo $$; exec " TARGET_STAGE " stuck");
  auto finder = pod_.finder("executable", "target_stage");
  EXPECT_TRUE(
      eventually([&] { return finder->ask("look").starts_with("left=2 matching=1 stuck=1"); }));
  // The command line of such a process is not read: we could hang, too.
  auto careful = pod_.finder("command_line", "nobody has this");
  EXPECT_EQ(careful->ask("look"), "left=0 matching=0 stuck=0 denied=0 unreadable=1 complete=0");
  kill_until_empty(*finder);
}

TEST_F(TargetTree, TheGainSignalWaitsForAProcessThatIsAboutToStartAnother) {
  const std::string command = TARGET_STAGE " spawning " + pod_.file("told");
  const pid_t main = pod_.start_program('b', command);
  ASSERT_TRUE(eventually([&] { return pod_.state(main) == 'D'; }));
  auto finder = pod_.finder("command_line", command);
  // Its child would take the signal for one of its own, and the one that is meant not get it.
  EXPECT_THAT(finder->ask("gain"), HasSubstr("matching=1 "));
  std::istringstream members(finder->ask("members"));
  pid_t child = 0;
  for (std::string one; members >> one;) {
    if (std::stoi(one) != main) child = std::stoi(one);
  }
  ASSERT_NE(child, 0);
  pod_.signal(child, SIGKILL);
  ASSERT_TRUE(eventually([&] { return pod_.state(main) == 'S'; }));
  EXPECT_THAT(finder->ask("gain"), HasSubstr("denied=0"));
  EXPECT_TRUE(eventually([&] { return pod_.has("told"); }));
  EXPECT_FALSE(pod_.has("told.child"));
}

TEST_F(TargetTree, TheGainSignalGoesToTheTopmostMatchOnly) {
  // A server and its worker, which runs the same program and would die of the signal.
  const pid_t worker = pod_.start_script('b', "trap 'touch " + pod_.file("told") +
                                                  "' USR1; sh -c 'sleep 1000; :' & echo $!; "
                                                  "while :; do sleep 0.02; done");
  auto finder = pod_.finder("executable", pod_.shell());
  // The server, the worker, and the worker's child.
  EXPECT_TRUE(eventually([&] {
    finder->ask("look");
    return std::stoi(finder->ask("count")) >= 3;
  }));
  EXPECT_THAT(finder->ask("gain"), HasSubstr("denied=0"));
  EXPECT_TRUE(eventually([&] { return pod_.has("told"); }));
  EXPECT_TRUE(pod_.runs(worker));
}

TEST_F(TargetTree, ADeathWakesUs) {
  const pid_t main = pod_.start_program('b', "sleep 1000");
  auto finder = pod_.finder("command_line", "sleep 1000");
  EXPECT_TRUE(eventually([&] { return finder->ask("look").starts_with("left=1 "); }));
  pod_.signal(main, SIGKILL);
  EXPECT_EQ(finder->ask("death"), "death");
  EXPECT_TRUE(eventually([&] { return finder->ask("look") == nothing_left; }));
}

TEST_F(TargetTree, ThePidOfOneThatIsGoneIsAStrangersAndIsLeftAlone) {
  const pid_t main = pod_.start_program('b', "sleep 1000");
  auto finder = pod_.finder("command_line", "sleep 1000");
  EXPECT_TRUE(eventually([&] { return finder->ask("look").starts_with("left=1 "); }));
  pod_.signal(main, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !pod_.has_process(main); }));
  // The next process gets the id.
  const std::string take = "echo " + std::to_string(main - 1) +
                           " > /proc/sys/kernel/ns_last_pid; sleep 2000 & echo $!; wait";
  pid_t stranger = 0;
  EXPECT_TRUE(eventually([&] { return (stranger = pod_.start_script('c', take)) == main; }));
  EXPECT_THAT(finder->ask("kill"), StartsWith("left=0 "));
  EXPECT_TRUE(pod_.runs(stranger));
}

}  // namespace
}  // namespace tenure::tests
