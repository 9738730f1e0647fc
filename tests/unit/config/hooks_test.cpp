#include "support.hpp"

namespace tenure::config::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> warnings_of(const configuration& s) {
  std::vector<std::string> out;
  for (const problem& p : s.warnings) out.push_back(render(p));
  return out;
}

TEST(HookSettings, NobodyIsToldByDefault) {
  const hooks h = good(minimal()).hooks;
  EXPECT_FALSE(h.any());
  EXPECT_FALSE(h.gain());
  EXPECT_FALSE(h.stop());
}

TEST(HookSettings, EveryWayTogetherIsAGoodConfiguration) {
  const configuration s =
      good(with_file("kill_budget: 3s\ngain_http: http://localhost:1/on\ngain_command: [a, b c]\n"
                     "gain_file: /run/on\nstop_http: http://localhost:1/off\nstop_command: c d\n"
                     "stop_exit_code: 17\n"));
  EXPECT_EQ(s.hooks.gain_http, "http://localhost:1/on");
  EXPECT_THAT(s.hooks.gain_command, ElementsAre("a", "b c"));
  EXPECT_EQ(s.hooks.gain_file, "/run/on");
  EXPECT_EQ(s.hooks.stop_http, "http://localhost:1/off");
  EXPECT_THAT(s.hooks.stop_command, ElementsAre("c", "d"));
  EXPECT_EQ(s.hooks.stop_exit_code, 17U);
  EXPECT_THAT(s.warnings, IsEmpty());
  EXPECT_EQ(good(only_file(effective(s))).hooks, s.hooks) << "and is written down as it is read";
}

TEST(HookSettings, UrlIsOfThisMachine) {
  for (const char* flag : {"--gain-http", "--stop-http"}) {
    EXPECT_THAT(problems_of(with_flags({{flag, "http://10.0.0.1/"}})),
                ElementsAre(HasSubstr("which is not this machine; give localhost")));
  }
}

TEST(HookSettings, ExitCodeNeedsTheTimeThatTheRuntimeTakes) {
  EXPECT_THAT(
      problems_of(with_flags({{"--stop-exit-code", "17"}})),
      ElementsAre(AllOf(StartsWith("--stop-exit-code: stop_exit_code ends the main container up to "
                                   "3s after the agent, but kill_budget is 500ms: it could run for "
                                   "2.5s after somebody else was granted the lease"),
                        HasSubstr("give a kill_budget of at least 3s"))));
  EXPECT_THAT(problems_of(with_flags({{"--stop-exit-code", "17"}, {"--kill-budget", "2s"}})),
              ElementsAre(StartsWith("--kill-budget: ")));
  EXPECT_THAT(problems_of(with_flags({{"--stop-exit-code", "17"}, {"--kill-budget", "3s"}})),
              IsEmpty());
}

TEST(HookSettings, AnotherOwnerOfTheWorkloadIsRefused) {
  EXPECT_THAT(problems_of(with_flags({{"--gain-command", "a"}, {"--guard-dir", "/g"}})),
              ElementsAre(HasSubstr("gain_command and guard_dir are both given")));
}

TEST(HookSettings, TargetThatRunsOnAStandbyMayBeToldOfItsGain) {
  for (const char* flag : {"--gain-command", "--gain-file"}) {
    const configuration s = good(
        with_flags({{flag, "/run/on"}, {"--target-executable", "x"}, {"--while-standby", "run"}}));
    EXPECT_TRUE(s.hooks.gain());
    EXPECT_THAT(s.warnings, IsEmpty()) << "it is told, and the guard stops it";
  }
}

TEST(HookSettings, TargetThatRunsOnlyWhileActiveNeedsNoTelling) {
  EXPECT_THAT(problems_of(with_flags({{"--gain-command", "a"}, {"--target-executable", "x"}})),
              ElementsAre(HasSubstr("gain_command is given, but while_standby is stop")));
}

TEST(HookSettings, TargetIsStoppedByItsGuardAlone) {
  EXPECT_THAT(problems_of(with_flags({{"--stop-command", "a"}, {"--target-executable", "x"}})),
              ElementsAre(HasSubstr("stop_command and target_* are both given")));
  EXPECT_THAT(problems_of(with_flags({{"--gain-command", "a"},
                                      {"--stop-http", "http://localhost:1/"},
                                      {"--target-executable", "x"},
                                      {"--while-standby", "run"}})),
              ElementsAre(HasSubstr("stop_http and target_* are both given")));
}

TEST(HookSettings, SeveralElectionsHaveNoOneWorkload) {
  EXPECT_THAT(problems_of(with_flags({{"--stop-command", "a"}, {"--election", "other"}})),
              ElementsAre(HasSubstr("tells one workload of one election, but 2 are configured")));
}

TEST(HookSettings, ObserverIsNeverActive) {
  EXPECT_THAT(problems_of(with_flags({{"--stop-command", "a"}, {"--observe", "true"}})),
              ElementsAre(HasSubstr("an observer never holds a lease")));
}

TEST(HookSettings, GainWithoutStopIsWarnedOf) {
  EXPECT_THAT(warnings_of(good(with_flags({{"--gain-file", "/run/on"}}))),
              ElementsAre(HasSubstr("each hand-over takes a ttl")));
}

TEST(HookSettings, WhatAHookIsToldIsNoSetting) {
  EXPECT_THAT(
      problems_of(with_environment(
          {{"TENURE_EVENT", "stop"}, {"TENURE_EXPIRES_IN_MS", "0"}, {"TENURE_LEFT_MS", "2000"}})),
      IsEmpty());
}

}  // namespace
}  // namespace tenure::config::test
