#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "process/process_scan.hpp"
#include "stage.hpp"

namespace tenure::tests {
namespace {

pid_t pid_in(const stage& s, const std::string& file) {
  pid_t pid = 0;
  EXPECT_TRUE(eventually([&] { return !s.read(file).empty(); })) << file;
  std::istringstream(s.read(file)) >> pid;
  return pid;
}

std::ptrdiff_t lines_of(const stage& s, const std::string& file) {
  return std::ranges::count(s.read(file), '\n');
}

/// Children of the guard in one of these states.
std::size_t children_of(pid_t guard, std::string_view states) {
  std::size_t count = 0;
  process::process_scan processes;
  EXPECT_TRUE(processes.open());
  while (const auto process = processes.next()) {
    if (process->parent == guard && states.contains(process->state)) ++count;
  }
  return count;
}

/// Lets the deadline pass while the agent is stopped, because a running agent would kill in the
/// guard's place and hide a failure of the guard.
void expire(const stage& s, agent_line& agent) {
  agent.tell("arm 7 200");
  agent.tell("acknowledged");
  agent.hear("acknowledged");
  ASSERT_EQ(::kill(agent.pid(), SIGSTOP), 0);
  EXPECT_TRUE(eventually([&] { return s.marked().empty(); }));
  ASSERT_EQ(::kill(agent.pid(), SIGCONT), 0);
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
  // Reported only after all are dead, so there is nothing to wait for.
  EXPECT_TRUE(s.marked().empty());
}

TEST(GuardTree, ADaemonAndASessionOfItsOwnDieWithTheRest) {
  stage s(
      stage::shell("trap '' TERM\n"
                   "(setsid sh -c 'echo $$ > $DIR/daemon; exec sleep 1000' &)\n"
                   "setsid sh -c 'echo $$ > $DIR/session; exec sleep 1000' &\n"
                   "while :; do sleep 0.01; done"));
  auto agent = s.agent();
  agent.start(7, s.mark());
  const pid_t daemon = pid_in(s, "daemon");
  const pid_t session = pid_in(s, "session");
  expire(s, agent);
  EXPECT_FALSE(runs(daemon));
  EXPECT_FALSE(runs(session));
}

TEST(GuardTree, FiftyProcessesInManySessionsDieTogether) {
  stage s(
      stage::shell("cat > $DIR/tree <<'END'\n"
                   "trap '' TERM\n"
                   "if [ $1 -gt 0 ]; then\n"
                   "  setsid sh $DIR/tree $(($1 - 1)) &\n"
                   "  sh $DIR/tree $(($1 - 1)) &\n"
                   "fi\n"
                   "echo $$ >> $DIR/pids\n"
                   "sleep 1000\n"
                   "END\n"
                   "exec sh $DIR/tree 4"));
  auto agent = s.agent();
  agent.start(7, s.mark());
  // 31 shells, and a sleep for each.
  EXPECT_TRUE(eventually([&] { return lines_of(s, "pids") == 31; }));
  EXPECT_TRUE(eventually([&] { return s.marked().size() >= 50; }));
  expire(s, agent);
  EXPECT_EQ(children_of(s.guard(), "Z"), 0U);
}

/// More than a guard reaps in one turn, and no death follows that would wake it again.
TEST(GuardTree, AllOfManyThatDieTogetherAreReaped) {
  constexpr std::size_t many = 300;
  stage s(
      stage::shell("i=0; while [ $i -lt 300 ]; do (sleep 1000 & echo $! >> $DIR/orphans)\n"
                   "i=$((i + 1)); done; exec sleep 1000"));
  auto agent = s.agent();
  agent.start(7, s.mark());
  ASSERT_TRUE(eventually([&] { return std::cmp_equal(lines_of(s, "orphans"), many); }));
  std::vector<pid_t> orphans;
  std::istringstream all(s.read("orphans"));
  for (pid_t one = 0; all >> one;) orphans.push_back(one);
  ASSERT_TRUE(eventually([&] { return children_of(s.guard(), "S") >= many; }));
  s.signal_guard(SIGSTOP);
  for (const pid_t one : orphans) ASSERT_EQ(::kill(one, SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return children_of(s.guard(), "Z") >= many; }));
  s.signal_guard(SIGCONT);
  EXPECT_TRUE(eventually([&] { return children_of(s.guard(), "Z") == 0; }));
}

TEST(GuardTree, WhatKeepsForkingIsKilledToo) {
  stage s(
      stage::shell("trap '' TERM; touch $DIR/up\n"
                   "while :; do (setsid sh -c 'sleep 0.02; sleep 0.02' &); sleep 0.005; done"));
  auto agent = s.agent();
  agent.start(7, s.mark());
  EXPECT_TRUE(eventually([&] { return s.has("up") && s.marked().size() > 3; }));
  expire(s, agent);
}

TEST(GuardTree, EndsOnlyWithItsLastProcess) {
  stage s(
      stage::shell("sh -c 'trap \"echo told > $DIR/told; exit\" TERM; touch $DIR/up; "
                   "while :; do sleep 0.01; done' &\n"
                   "while [ ! -e $DIR/up ]; do sleep 0.01; done; exit 6"));
  auto agent = s.agent();
  agent.start(7, s.mark());
  // The status of the first process, at the end of the last one.
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(6 << 8));
  EXPECT_EQ(s.read("told"), "told\n");
  EXPECT_TRUE(s.marked().empty());
}

TEST(GuardTree, WhatOutlivesTheLeaderAndIgnoresTheSignalIsKilledAfterTheGrace) {
  stage s(
      stage::shell("setsid sh -c 'trap \"\" TERM; touch $DIR/up; "
                   "while :; do sleep 0.01; done' &\n"
                   "while [ ! -e $DIR/up ]; do sleep 0.01; done; exit 0"));
  auto agent = s.agent();
  agent.start(7, s.mark());
  EXPECT_EQ(agent.hear(), "exited 0");
  EXPECT_TRUE(s.marked().empty());
}

TEST(GuardTree, OrphansAreReapedWhileTheWorkloadRuns) {
  stage s(
      stage::shell("i=0; while [ $i -lt 100 ]; do (sleep 0.01 &); i=$((i+1)); done\n"
                   "touch $DIR/up; exec sleep 1000"));
  auto agent = s.agent();
  const pid_t leader = agent.start(7, s.mark());
  EXPECT_TRUE(eventually([&] { return s.has("up") && s.marked().size() == 1; }));
  EXPECT_TRUE(eventually([&] { return children_of(s.guard(), "Z") == 0; }));
  EXPECT_TRUE(runs(leader));
}

TEST(GuardTree, TheAgentIsNotPartOfIt) {
  stage s(stage::shell("exit 0"));
  auto agent = s.agent();
  agent.start(7);
  EXPECT_EQ(agent.hear(), "exited 0");
  agent.start(8);
  agent.tell("stop 9 0");
  agent.hear("exited");
  EXPECT_TRUE(runs(agent.pid()));
}

}  // namespace
}  // namespace tenure::tests
