#include <gtest/gtest.h>
#include <signal.h>

#include "base/boot_time.hpp"
#include "stage.hpp"

namespace tenure::tests {
namespace {

const std::string deaf = "trap '' TERM INT HUP; touch $DIR/up; while :; do sleep 0.01; done";

TEST(GuardDeadline, EndsAWorkloadThatIgnoresEverything) {
  stage s(stage::shell(deaf));
  auto agent = s.agent();
  agent.start(7);
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  agent.tell("arm 7 0");
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
}

TEST(GuardDeadline, HoldsAlthoughTheAgentIsStopped) {
  stage s(stage::shell(deaf));
  auto agent = s.agent();
  const pid_t leader = agent.start(7, s.mark());
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  agent.tell("arm 7 300");
  agent.tell("acknowledged");
  agent.hear("acknowledged");
  ASSERT_EQ(::kill(agent.pid(), SIGSTOP), 0);
  EXPECT_TRUE(eventually([&] { return !runs(leader) && s.marked().empty(); }));
  // The events it missed are waiting.
  ASSERT_EQ(::kill(agent.pid(), SIGCONT), 0);
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
}

TEST(GuardDeadline, ComesAfterAWordToTheWorkloadAlthoughTheAgentIsStopped) {
  stage s(
      stage::shell("trap 'touch $DIR/told; exit 0' TERM; touch $DIR/up; "
                   "while :; do sleep 0.01; done"));
  auto agent = s.agent();
  const pid_t leader = agent.start(7);
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  // An hour is left, nearly all of it grace.
  agent.tell("arm 7 3600000 3599700");
  agent.tell("acknowledged");
  agent.hear("acknowledged");
  ASSERT_EQ(::kill(agent.pid(), SIGSTOP), 0);
  EXPECT_TRUE(eventually([&] { return !runs(leader); }));
  EXPECT_TRUE(s.has("told"));
  ASSERT_EQ(::kill(agent.pid(), SIGCONT), 0);
  EXPECT_EQ(agent.hear(), "exited 0");
}

TEST(GuardDeadline, IsMovedByARenewal) {
  // If a busy machine lets the first deadline pass before the renewal is read, try with more time.
  for (auto first = std::chrono::milliseconds(500);; first *= 2) {
    stage s(stage::shell("exec sleep 1000"));
    auto agent = s.agent();
    const pid_t leader = agent.start(7);
    const auto kill_at = base::boot_now() + first;
    agent.tell("arm 7 " + std::to_string(first.count()));
    agent.tell("arm 7 3600000");
    ASSERT_TRUE(eventually([&] {
      agent.tell("acknowledged");
      return agent.hear("acknowledged") == "acknowledged yes" || base::boot_now() >= kill_at;
    }));
    if (base::boot_now() >= kill_at) continue;
    EXPECT_TRUE(eventually([&] { return base::boot_now() > kill_at; }));
    EXPECT_TRUE(runs(leader));
    return;
  }
}

TEST(GuardDeadline, OfAnotherTermDoesNotTouchTheOneThatRuns) {
  stage s(stage::shell("exec sleep 1000"));
  auto agent = s.agent();
  agent.start(7);
  agent.tell("arm 8 0");
  agent.tell("start 8");
  EXPECT_EQ(agent.hear(), "refused 8");
  // The deadline of term 7 is unchanged: an hour away.
  agent.tell("stop 15 3600000");
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGTERM));
}

TEST(GuardStop, SendsTheSignalThatTheAgentNames) {
  stage s(stage::shell("trap 'exit 9' USR2; touch $DIR/up; while :; do sleep 0.01; done"));
  auto agent = s.agent();
  agent.start(7);
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  agent.tell("stop " + std::to_string(SIGUSR2) + " 3600000");
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(9 << 8));
}

TEST(GuardStop, KillsWhenItsTimeIsUp) {
  stage s(stage::shell(deaf));
  auto agent = s.agent();
  agent.start(7);
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  agent.tell("stop 0 3600000");
  // A second order may only shorten it.
  agent.tell("stop 0 100");
  agent.tell("stop 0 3600000");
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
}

TEST(GuardStop, ReachesAWorkloadThatIsStopped) {
  stage s(stage::shell("trap 'exit 4' TERM; touch $DIR/up; while :; do sleep 0.01; done"));
  auto agent = s.agent();
  const pid_t leader = agent.start(7);
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  ASSERT_EQ(::kill(leader, SIGSTOP), 0);
  agent.tell("stop 0 3600000");
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(4 << 8));
}

}  // namespace
}  // namespace tenure::tests
