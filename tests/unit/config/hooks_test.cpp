#include "support.hpp"

namespace tenure::config::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::expect_golden;

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
    expect_golden(problems_of(with_flags({{flag, "http://10.0.0.1/"}})));
  }
}

TEST(HookSettings, ExitCodeNeedsTheTimeThatTheRuntimeTakes) {
  expect_golden(problems_of(with_flags({{"--stop-exit-code", "17"}})));
  expect_golden(problems_of(with_flags({{"--stop-exit-code", "17"}, {"--kill-budget", "2s"}})));
  EXPECT_THAT(problems_of(with_flags({{"--stop-exit-code", "17"}, {"--kill-budget", "3s"}})),
              IsEmpty());
}

TEST(HookSettings, AnotherOwnerOfTheWorkloadIsRefused) {
  expect_golden(problems_of(with_flags({{"--gain-command", "a"}, {"--guard-dir", "/g"}})));
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
  expect_golden(problems_of(with_flags({{"--gain-command", "a"}, {"--target-executable", "x"}})));
}

TEST(HookSettings, TargetIsStoppedByItsGuardAlone) {
  expect_golden(problems_of(with_flags({{"--stop-command", "a"}, {"--target-executable", "x"}})));
  expect_golden(problems_of(with_flags({{"--gain-command", "a"},
                                        {"--stop-http", "http://localhost:1/"},
                                        {"--target-executable", "x"},
                                        {"--while-standby", "run"}})));
}

TEST(HookSettings, SeveralElectionsHaveNoOneWorkload) {
  expect_golden(problems_of(with_flags({{"--stop-command", "a"}, {"--election", "other"}})));
}

TEST(HookSettings, ObserverIsNeverActive) {
  expect_golden(problems_of(with_flags({{"--stop-command", "a"}, {"--observe", "true"}})));
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
