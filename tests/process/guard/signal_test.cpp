#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "stage.hpp"

namespace tenure::tests {
namespace {

const std::string recorder =
    "for s in HUP USR1 USR2 ALRM TERM INT QUIT; do trap \"echo $s >> $DIR/got\" $s; done\n"
    "touch $DIR/up; while :; do sleep 0.01; done";

TEST(GuardSignal, OnesForTheWorkloadArePassedOn) {
  stage s(stage::shell(recorder));
  auto agent = s.agent();
  agent.start(7);
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  std::string expected;
  for (const auto& [signo, name] : {std::pair{SIGHUP, "HUP\n"},
                                    {SIGUSR1, "USR1\n"},
                                    {SIGUSR2, "USR2\n"},
                                    {SIGALRM, "ALRM\n"}}) {
    s.signal_guard(signo);
    expected += name;
    EXPECT_TRUE(eventually([&] { return s.read("got") == expected; })) << name;
  }
}

TEST(GuardSignal, WithoutAWorkloadTheyAreIgnored) {
  stage s(stage::shell("exit 0"));
  auto agent = s.agent();
  for (const int signo : {SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP, SIGALRM, SIGPIPE}) {
    s.signal_guard(signo);
  }
  agent.start(7);
  EXPECT_EQ(agent.hear(), "exited 0");
}

TEST(GuardSignal, TermIsForTheAgentToDecide) {
  stage s(stage::shell(recorder));
  auto agent = s.agent();
  const pid_t leader = agent.start(7);
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  s.signal_guard(SIGTERM);
  EXPECT_EQ(agent.hear(), "signalled " + std::to_string(SIGTERM));
  EXPECT_TRUE(runs(leader));
  EXPECT_FALSE(s.has("got"));
}

TEST(GuardSignal, AnInterruptStopsTheWorkloadWithAnInterrupt) {
  for (const auto& [signo, name] : {std::pair{SIGINT, "INT\n"}, {SIGQUIT, "QUIT\n"}}) {
    stage s(stage::shell(recorder));
    auto agent = s.agent();
    agent.start(7);
    EXPECT_TRUE(eventually([&] { return s.has("up"); }));
    s.signal_guard(signo);
    EXPECT_EQ(agent.hear(), "signalled " + std::to_string(signo));
    agent.tell("stop " + std::to_string(SIGTERM) + " 3600000");
    EXPECT_TRUE(eventually([&] { return s.read("got") == name; })) << name;
  }
}

TEST(GuardSignal, ASecondInterruptKillsAtOnce) {
  stage s(stage::shell(recorder));
  auto agent = s.agent();
  agent.start(7);
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  s.signal_guard(SIGINT);
  EXPECT_EQ(agent.hear(), "signalled " + std::to_string(SIGINT));
  agent.tell("stop 0 3600000");
  s.signal_guard(SIGINT);
  agent.hear("exited " + std::to_string(SIGKILL));
}

TEST(GuardSignal, AThirdInterruptDoesNotWaitForAnAgentThatHangs) {
  stage s(stage::shell("exec sleep 1000"));
  auto agent = s.agent();
  const pid_t leader = agent.start(7);
  ASSERT_EQ(::kill(agent.pid(), SIGSTOP), 0);
  EXPECT_TRUE(eventually([&] {
    s.signal_guard(SIGINT);
    return !runs(leader);
  }));
  EXPECT_TRUE(eventually([&] {
    s.signal_guard(SIGINT);
    return !runs(agent.pid());
  }));
  EXPECT_EQ(s.end(), 128 + SIGKILL);
}

/// True if this process may make namespaces; a container often may not.
bool may_unshare() {
  return ::geteuid() == 0 && std::system("unshare --pid --fork --mount-proc true 2>&-") == 0;
}

TEST(GuardSignal, AsFirstProcessOfAPidNamespaceAllOfThisHoldsToo) {
  if (!may_unshare())
    GTEST_SKIP() << "unshare --pid is not permitted here: not root, or a container";
  stage s(stage::shell("(setsid sleep 1000 &); " + recorder),
          {"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"});
  auto agent = s.agent();
  EXPECT_EQ(agent.pid(), 3) << "in the namespace the guard is 1, and the writer of its log 2";
  agent.start(7, s.mark());
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  agent.tell("stop " + std::to_string(SIGUSR1) + " 3600000");
  EXPECT_TRUE(eventually([&] { return s.read("got") == "USR1\n"; }));
  agent.tell("arm 7 0");
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
  EXPECT_TRUE(s.marked().empty());
  agent.tell("bye 17");
  EXPECT_EQ(s.end(), 17);
}

TEST(GuardSignal, WithoutItsOwnProcTheGuardRefusesToStart) {
  if (!may_unshare())
    GTEST_SKIP() << "unshare --pid is not permitted here: not root, or a container";
  stage s(stage::shell("true"), {"unshare", "--pid", "--fork", "--kill-child"});
  EXPECT_EQ(s.end(), 125);
  EXPECT_NE(s.read("stderr").find("tenure guard: /proc"), std::string::npos);
}

}  // namespace
}  // namespace tenure::tests
