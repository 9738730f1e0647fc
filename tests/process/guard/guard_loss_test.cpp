#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "stage.hpp"
#include "support/other_process.hpp"
#include "support/own_cgroup.hpp"
#include "support/process_name.hpp"

namespace tenure::tests {
namespace {

const std::string deaf_family =
    "trap '' TERM; sh -c 'trap \"\" TERM; touch $DIR/child; while :; do sleep 0.01; done' &\n"
    "while [ ! -e $DIR/child ]; do sleep 0.01; done; touch $DIR/up; while :; do sleep 0.01; done";

// Repeated, because the agent looks while the kernel takes the process tree apart: no moment of
// that may look like "nothing is left".
TEST(GuardLoss, TheWorkloadDiesWithTheGuardAndTheAgentSeesToTheRest) {
  for (int round = 0; round < 50; ++round) {
    stage s(stage::shell(deaf_family));
    auto agent = s.agent();
    agent.start(7, s.mark());
    EXPECT_TRUE(eventually([&] { return s.has("up"); }));
    s.signal_guard(SIGKILL);
    EXPECT_EQ(agent.hear(), "guard_gone");
    EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
    ASSERT_TRUE(s.marked().empty()) << "in round " << round;
  }
}

TEST(GuardLoss, DaemonsWithSessionsOfTheirOwnAreFoundByTheirEnvironment) {
  for (int round = 0; round < 10; ++round) {
    stage s(
        stage::shell("for i in 1 2 3; do setsid sh -c 'trap \"\" TERM; touch $DIR/up; "
                     "while :; do sleep 0.01; done' & done; while :; do sleep 0.01; done"));
    auto agent = s.agent();
    agent.start(7, s.mark());
    EXPECT_TRUE(eventually([&] { return s.has("up"); }));
    s.signal_guard(SIGKILL);
    EXPECT_EQ(agent.hear(), "guard_gone");
    EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
    ASSERT_TRUE(s.marked().empty()) << "in round " << round;
  }
}

/// Root with a container's default capabilities: it cannot look into other users' processes.
const std::vector<std::string> blind_root{
    "setpriv", "--bounding-set=-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid",
    "--"};
const std::string as_nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups ";

/// In a cgroup of its own, where only the workload starts processes.
class GuardLossInDoubt : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can start what another user owns";
    if (!cgroup_.missing().empty()) GTEST_SKIP() << cgroup_.missing();
  }

  /// `script` is the workload.
  std::unique_ptr<stage> guard(const std::string& script) const {
    stage::prefix before{"sh", "-c", "echo $$ > " + cgroup_.procs() + " && exec \"$@\"", "join"};
    before.insert(before.end(), blind_root.begin(), blind_root.end());
    return std::make_unique<stage>(stage::shell(script), before);
  }

  own_cgroup cgroup_{"doubt"};
};

void sleep_without_environment() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::execlp("env", "env", "-i", "sleep", "1000", nullptr);
}

// The daemons belong to the test. A daemon of the workload looks the same once the guard is dead;
// but a dying guard still has its children when the agent learns of its end, and those are killed.

TEST_F(GuardLossInDoubt, DaemonOfAnotherUserMayBeOfTheWorkload) {
  const auto s = guard("touch $DIR/up; exec sleep 1000");
  auto agent = s->agent();
  const pid_t leader = agent.start(7, s->mark());
  EXPECT_TRUE(eventually([&] { return s->has("up"); }));
  const other_process other(sleep_as_nobody);
  std::ofstream(cgroup_.procs()) << other.pid();
  const pid_t daemon = other.pid();
  EXPECT_TRUE(eventually([&] { return name_of(daemon) == "sleep"; }));
  s->signal_guard(SIGKILL);
  EXPECT_EQ(agent.hear(), "guard_gone");
  EXPECT_EQ(agent.hear(), "doubtful 1 " + std::to_string(daemon));
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
  EXPECT_FALSE(runs(leader));
  EXPECT_TRUE(runs(daemon)) << "it may be unrelated";
}

TEST_F(GuardLossInDoubt, SoMayADaemonWithoutAnEnvironment) {
  const auto s = guard("touch $DIR/up; exec sleep 1000");
  auto agent = s->agent();
  agent.start(7, s->mark());
  EXPECT_TRUE(eventually([&] { return s->has("up"); }));
  const other_process daemon(sleep_without_environment);
  std::ofstream(cgroup_.procs()) << daemon.pid();
  EXPECT_TRUE(eventually([&] { return name_of(daemon.pid()) == "sleep"; }));
  s->signal_guard(SIGKILL);
  EXPECT_EQ(agent.hear(), "guard_gone");
  EXPECT_EQ(agent.hear(), "doubtful 1 " + std::to_string(daemon.pid()));
}

TEST_F(GuardLossInDoubt, WhatIsOlderIsAStrangers) {
  const other_process other(sleep_as_nobody);
  std::ofstream(cgroup_.procs()) << other.pid();
  const auto s = guard("touch $DIR/up; exec sleep 1000");
  auto agent = s->agent();
  agent.start(7, s->mark());
  EXPECT_TRUE(eventually([&] { return s->has("up"); }));
  s->signal_guard(SIGKILL);
  EXPECT_EQ(agent.hear(), "guard_gone");
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
  EXPECT_TRUE(runs(other.pid()));
}

TEST_F(GuardLossInDoubt, SoIsWhatIsInAnotherCgroup) {
  const auto s = guard("touch $DIR/up; exec sleep 1000");
  auto agent = s->agent();
  agent.start(7, s->mark());
  EXPECT_TRUE(eventually([&] { return s->has("up"); }));
  const other_process other(sleep_as_nobody);
  EXPECT_TRUE(eventually([&] { return name_of(other.pid()) == "sleep"; }));
  s->signal_guard(SIGKILL);
  EXPECT_EQ(agent.hear(), "guard_gone");
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
  EXPECT_TRUE(runs(other.pid()));
}

TEST_F(GuardLossInDoubt, WhatEndsWithTheRestIsNotDoubted) {
  const auto s = guard("setsid " + as_nobody +
                       "--pdeathsig=KILL sleep 1000 & echo $! > $DIR/daemon; touch $DIR/up; "
                       "exec sleep 1000");
  auto agent = s->agent();
  agent.start(7, s->mark());
  EXPECT_TRUE(eventually([&] { return s->has("up"); }));
  const pid_t daemon = std::stoi(s->read("daemon"));
  EXPECT_TRUE(eventually([&] { return name_of(daemon) == "sleep"; }));
  s->signal_guard(SIGKILL);
  EXPECT_EQ(agent.hear(), "guard_gone");
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
  EXPECT_FALSE(runs(daemon));
}

TEST(GuardLoss, WithoutAWorkloadTheAgentOnlyHearsOfIt) {
  stage s(stage::shell("true"));
  auto agent = s.agent();
  agent.start(7);
  EXPECT_EQ(agent.hear(), "exited 0");
  s.signal_guard(SIGKILL);
  EXPECT_EQ(agent.hear(), "guard_gone");
  agent.tell("arm 8 3600000");
  agent.tell("start 8");
  EXPECT_EQ(agent.hear(), "failed 8 " + std::to_string(EPIPE));
}

TEST(GuardLoss, TheAgentKillsAtTheDeadlineIfTheGuardIsFrozen) {
  stage s(stage::shell("setsid sh -c 'touch $DIR/other; exec sleep 1000' & " + deaf_family));
  auto agent = s.agent();
  agent.start(7, s.mark());
  EXPECT_TRUE(eventually([&] { return s.has("up") && s.has("other"); }));
  s.signal_guard(SIGSTOP);
  agent.tell("arm 7 100");
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
  EXPECT_TRUE(s.marked().empty());
  agent.tell("acknowledged");
  EXPECT_EQ(agent.hear(), "acknowledged no");
  // When the guard continues, all processes are dead, and the agent is not told twice.
  s.signal_guard(SIGCONT);
  agent.start(8);
}

TEST(GuardLoss, AFrozenGuardIsNoticedLongBeforeItsDeadline) {
  stage s(stage::shell(deaf_family));
  auto agent = s.agent();
  agent.start(7, s.mark());
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  s.signal_guard(SIGSTOP);
  agent.tell("arm 7 3600000");
  EXPECT_EQ(agent.hear(), "guard_hangs");
  EXPECT_FALSE(s.marked().empty()) << "that is for the agent to decide";
  agent.tell("end");
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
  EXPECT_TRUE(s.marked().empty());
  s.signal_guard(SIGCONT);
}

}  // namespace
}  // namespace tenure::tests
