#include <gtest/gtest.h>
#include <signal.h>

#include "stage.hpp"

namespace tenure::tests {
namespace {

const std::string deaf_family =
    "trap '' TERM; sh -c 'trap \"\" TERM; touch $DIR/child; while :; do sleep 0.01; done' &\n"
    "while [ ! -e $DIR/child ]; do sleep 0.01; done; touch $DIR/up; while :; do sleep 0.01; done";

// More than once: the agent looks at the family while the kernel takes it apart, and each moment
// of that must be told from "nobody is left".
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
  // Back again, it finds all of it dead, and the agent is not told twice.
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
