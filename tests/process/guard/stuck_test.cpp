#include <gtest/gtest.h>
#include <signal.h>

#include <iterator>
#include <sstream>

#include "stage.hpp"
#include "support/freezer.hpp"
#include "support/process_name.hpp"

/// A process hangs in the kernel: SIGKILL waits for it, and nobody else does.
namespace tenure::tests {
namespace {

class GuardStuck : public testing::Test {
 protected:
  void SetUp() override {
    if (!freezer_.missing().empty()) GTEST_SKIP() << freezer_.missing();
  }

  /// A shell that runs `before`, joins the freezer, and continues with the rest.
  [[nodiscard]] std::vector<std::string> joins(const std::string& before,
                                               const std::string& after) const {
    return stage::shell(before + "\necho $$ > " + freezer_.procs() + "; touch $DIR/in\n" + after);
  }

  freezer freezer_;
};

TEST_F(GuardStuck, IsToldByNameAndStateAndCountsAsLeft) {
  stage s(joins("", "exec sleep 1000"));
  auto agent = s.agent();
  const pid_t leader = agent.start(7, s.mark());
  ASSERT_TRUE(eventually([&] { return name_of(leader) == "sleep"; }));
  const freezer::frost frost(freezer_);
  agent.tell("stop 9 0");
  EXPECT_EQ(agent.hear(), "survives 7 1/1 " + std::to_string(leader) + " sleep D");
  EXPECT_TRUE(runs(leader));
  frost.thaw();
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
}

TEST_F(GuardStuck, IsSaidByTheGuardOnceItsAgentIsDead) {
  stage s(joins("", "exec sleep 1000"));
  auto agent = s.agent();
  const pid_t leader = agent.start(7, s.mark());
  ASSERT_TRUE(eventually([&] { return name_of(leader) == "sleep"; }));
  const freezer::frost frost(freezer_);
  agent.tell("stop 9 0");
  agent.hear("survives");
  ASSERT_EQ(::kill(agent.pid(), SIGKILL), 0);
  const std::string said = "SIGKILL has not ended 1 of the workload's processes, 1 of which hang";
  EXPECT_TRUE(eventually([&] { return s.read("stderr").contains(said); }));
  frost.thaw();
  EXPECT_EQ(s.agent().found(), "nothing") << "the next one is started when all of it is dead";
}

TEST_F(GuardStuck, WhatIsBelowItIsKilledByTheGuardWithoutAnAgent) {
  stage s(
      joins("setsid sh -c 'trap \"\" TERM; echo $$ > $DIR/below; while :; do sleep 0.05; done' &",
            "wait"));
  auto agent = s.agent();
  const pid_t leader = agent.start(7, s.mark());
  ASSERT_TRUE(eventually([&] { return s.has("in") && !s.read("below").empty(); }));
  const pid_t below = std::stoi(s.read("below"));
  const freezer::frost frost(freezer_);
  agent.tell("arm 7 200");
  agent.tell("acknowledged");
  agent.hear("acknowledged");
  // A running agent would kill in the guard's place.
  ASSERT_EQ(::kill(agent.pid(), SIGSTOP), 0);
  EXPECT_TRUE(eventually([&] { return !runs(below); }));
  EXPECT_TRUE(runs(leader));
  ASSERT_EQ(::kill(agent.pid(), SIGCONT), 0);
}

TEST_F(GuardStuck, WhatIsBelowItIsKilledByTheAgentOfAFrozenGuard) {
  stage s(
      joins("setsid sh -c 'trap \"\" TERM; echo $$ > $DIR/below; while :; do sleep 0.05; done' &",
            "wait"));
  auto agent = s.agent();
  const pid_t leader = agent.start(7, s.mark());
  ASSERT_TRUE(eventually([&] { return s.has("in") && !s.read("below").empty(); }));
  const pid_t below = std::stoi(s.read("below"));
  const freezer::frost frost(freezer_);
  s.signal_guard(SIGSTOP);
  agent.tell("end");
  EXPECT_TRUE(eventually([&] { return !runs(below); }));
  EXPECT_TRUE(runs(leader));
  s.signal_guard(SIGCONT);
}

}  // namespace
}  // namespace tenure::tests
