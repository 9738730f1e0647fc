#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <sstream>

#include "guard/guard_process.hpp"
#include "process/exec_status.hpp"
#include "stage.hpp"
#include "support/own_cgroup.hpp"

namespace tenure::tests {
namespace {

TEST(GuardStart, NothingRunsBeforeTheAgentSaysSo) {
  stage s(stage::shell("touch $DIR/ran; exec sleep 1000"));
  auto agent = s.agent();
  agent.tell("arm 7 3600000");
  EXPECT_TRUE(eventually([&] {
    agent.tell("acknowledged");
    return agent.hear("acknowledged") == "acknowledged yes";
  }));
  EXPECT_FALSE(s.has("ran"));
  const pid_t leader = agent.start(7);
  EXPECT_TRUE(eventually([&] { return s.has("ran"); }));
  EXPECT_TRUE(runs(leader));
}

TEST(GuardStart, IsRefusedForATermThatIsNotArmed) {
  stage s(stage::shell("touch $DIR/ran"));
  auto agent = s.agent();
  agent.tell("start 7");
  EXPECT_EQ(agent.hear(), "refused 7");
  agent.tell("arm 8 3600000");
  agent.tell("start 7");
  EXPECT_EQ(agent.hear(), "refused 7");
  EXPECT_FALSE(s.has("ran"));
}

TEST(GuardStart, IsRefusedOnceTheDeadlineHasPassed) {
  stage s(stage::shell("touch $DIR/ran"));
  auto agent = s.agent();
  agent.tell("arm 7 0");
  agent.tell("start 7");
  EXPECT_EQ(agent.hear(), "refused 7");
  EXPECT_FALSE(s.has("ran"));
}

TEST(GuardStart, IsRefusedWhileAnotherTermRuns) {
  stage s(stage::shell("exec sleep 1000"));
  auto agent = s.agent();
  const pid_t leader = agent.start(7);
  agent.tell("arm 8 3600000");
  agent.tell("start 8");
  EXPECT_EQ(agent.hear(), "refused 8");
  EXPECT_TRUE(runs(leader));
}

TEST(GuardStart, NeedsANewDeadlineAfterEveryEnd) {
  stage s(stage::shell("true"));
  auto agent = s.agent();
  agent.start(7);
  EXPECT_EQ(agent.hear(), "exited 0");
  agent.start(8);
  EXPECT_EQ(agent.hear(), "exited 0");
}

TEST(GuardStart, TheWorkloadSeesWhatTheAgentAddsAndNothingOfTheGuard) {
  stage s(stage::shell("env > $DIR/env"));
  auto agent = s.agent();
  agent.start(7, "TENURE_VERSION=7 INHERITED=replaced EMPTY=");
  EXPECT_EQ(agent.hear(), "exited 0");
  std::istringstream lines(s.read("env"));
  const std::vector<std::string> environment{std::istream_iterator<std::string>(lines), {}};
  const auto has = [&](const std::string& line) { return std::ranges::count(environment, line); };
  EXPECT_EQ(has("TENURE_VERSION=7"), 1);
  EXPECT_EQ(has("INHERITED=replaced"), 1);
  EXPECT_EQ(has("INHERITED=from"), 0);
  EXPECT_EQ(has("EMPTY="), 1);
  EXPECT_EQ(has("DIR=" + s.directory().string()), 1);
  EXPECT_EQ(s.read("env").find("TENURE_SESSION="), std::string::npos);
  EXPECT_EQ(s.read("env").find("TENURE_GUARD_FDS="), std::string::npos);
}

/// In front of a guard's command line: /dev as in a container that the kubelet has started.
stage::prefix in_a_container(const std::string& unshare) {
  return {"sh", "-ec",
          "exec unshare --mount " + unshare +
              R"( sh -ec 'mkdir $DIR/dev; mount -t tmpfs none $DIR/dev
touch $DIR/dev/null $DIR/dev/termination-log; mount --bind /dev/null $DIR/dev/null
mount --rbind $DIR/dev /dev; exec "$@"' sh "$@")",
          "sh"};
}

const std::vector<std::string> looks_at_its_words =
    stage::shell("cp /dev/termination-log $DIR/words; env > $DIR/env");

TEST(GuardStart, LeavesTheLastWordsOfItsContainerBeforeTheWorkloadRuns) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for namespaces";
  stage s(looks_at_its_words, in_a_container("--pid --fork --kill-child --mount-proc"));
  auto agent = s.agent();
  agent.start(7, "TENURE_LAST_WORDS=version-7-of-a-long-name TENURE_VERSION=7");
  EXPECT_EQ(agent.hear(), "exited 0");
  EXPECT_EQ(s.read("words"), "version-7-of-a-long-name");
  EXPECT_EQ(s.read("env").find("TENURE_LAST_WORDS="), std::string::npos);
  EXPECT_NE(s.read("env").find("TENURE_VERSION=7"), std::string::npos);
  agent.start(8, "TENURE_LAST_WORDS=version-8");
  EXPECT_EQ(agent.hear(), "exited 0");
  EXPECT_EQ(s.read("words"), "version-8");
}

/// What it starts may outlive its container.
TEST(GuardStart, LeavesNoLastWordsWhereProcessOneIsInAnotherContainer) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for namespaces";
  const own_cgroup cgroup("last-words");
  if (!cgroup.missing().empty()) GTEST_SKIP() << cgroup.missing();
  stage::prefix before{"sh", "-ec", "echo $$ > " + cgroup.procs() + "; exec \"$@\"", "sh"};
  const stage::prefix inside = in_a_container("");
  before.insert(before.end(), inside.begin(), inside.end());
  stage s(looks_at_its_words, before);
  auto agent = s.agent();
  agent.start(7, "TENURE_LAST_WORDS=version-7");
  EXPECT_EQ(agent.hear(), "exited 0");
  EXPECT_EQ(s.read("words"), "");
  EXPECT_EQ(s.read("env").find("TENURE_LAST_WORDS="), std::string::npos);
}

TEST(GuardStart, AnEnvironmentThatIsTooLargeFailsTheStart) {
  stage s(stage::shell("touch $DIR/ran"));
  auto agent = s.agent();
  agent.tell("arm 7 3600000");
  agent.tell("start 7 LARGE=" + std::string(20'000, 'x'));
  EXPECT_EQ(agent.hear(), "failed 7 " + std::to_string(E2BIG));
  EXPECT_FALSE(s.has("ran"));
}

TEST(GuardStart, NoDescriptorButTheStandardOnesAndThePageReachesTheWorkload) {
  stage s({GUARD_STAGE, "open-files"});
  auto agent = s.agent();
  agent.start(7);
  EXPECT_EQ(agent.hear(), "exited 0");
  EXPECT_EQ(s.read("stdout"), "0\n1\n2\npage\nend\n");
}

TEST(GuardStart, TheWorkloadBlocksAndIgnoresNoSignal) {
  // The workload must not inherit the guard's ignored signals: here SIGPIPE and SIGUSR1.
  stage s(stage::shell("grep -E 'Sig(Blk|Ign)' /proc/self/status > $DIR/signals"),
          {"sh", "-c", "trap '' PIPE USR1; exec \"$@\"", "sh"});
  auto agent = s.agent();
  agent.start(7);
  EXPECT_EQ(agent.hear(), "exited 0");
  unsigned long long blocked = 1;
  unsigned long long ignored = 1;
  ASSERT_EQ(std::sscanf(s.read("signals").c_str(), "SigBlk: %llx SigIgn: %llx", &blocked, &ignored),
            2);
  // 32 and 33 are reserved by glibc.
  const unsigned long long of_glibc = 3ULL << 31;
  EXPECT_EQ(blocked, 0U);
  EXPECT_EQ(ignored & ~of_glibc, 0U);
}

TEST(GuardStart, AProgramThatIsNotFoundIs127) {
  stage s({"/nowhere/such-a-program"});
  auto agent = s.agent();
  agent.tell("arm 7 3600000");
  agent.tell("start 7");
  EXPECT_EQ(agent.hear(), "failed 7 " + std::to_string(ENOENT));
  agent.tell("bye workload");
  EXPECT_EQ(s.end(), process::exit_command_not_found);
}

TEST(GuardStart, AFileThatIsNotAProgramIs126) {
  stage s({"/etc/passwd"});
  auto agent = s.agent();
  agent.tell("arm 7 3600000");
  agent.tell("start 7");
  EXPECT_EQ(agent.hear(), "failed 7 " + std::to_string(EACCES));
  agent.tell("bye workload");
  EXPECT_EQ(s.end(), process::exit_command_not_executable);
}

TEST(GuardExit, IsTheWorkloadsOwnAfterABye) {
  stage s(stage::shell("exit 42"));
  auto agent = s.agent();
  agent.start(7);
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(42 << 8));
  agent.tell("bye workload");
  EXPECT_EQ(s.end(), 42);
}

TEST(GuardExit, Is128PlusTheSignalThatEndedTheWorkload) {
  stage s(stage::shell("kill -USR2 $$"));
  auto agent = s.agent();
  agent.start(7);
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGUSR2));
  agent.tell("bye workload");
  EXPECT_EQ(s.end(), 128 + SIGUSR2);
}

TEST(GuardExit, IsWhatTheAgentAsksFor) {
  stage s(stage::shell("exit 42"));
  auto agent = s.agent();
  agent.start(7);
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(42 << 8));
  agent.tell("bye 5");
  EXPECT_EQ(s.end(), 5);
}

TEST(GuardExit, IsTheAgentsOwnIfItEndsWithoutABye) {
  stage s(stage::shell("true"));
  s.agent().tell("exit 2");
  EXPECT_EQ(s.end(), 2);
}

TEST(GuardExit, WaitsForAWorkloadThatTheAgentLeftRunning) {
  stage s(
      stage::shell("trap 'echo told > $DIR/told; exit 3' TERM; touch $DIR/up; "
                   "while :; do sleep 0.01; done"));
  auto agent = s.agent();
  agent.start(7, s.mark());
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  agent.tell("exit 2");
  EXPECT_EQ(s.end(), 2);
  EXPECT_EQ(s.read("told"), "told\n");
  EXPECT_TRUE(s.marked().empty());
}

}  // namespace
}  // namespace tenure::tests
