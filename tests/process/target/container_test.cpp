#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "pod.hpp"
#include "support/eventually.hpp"

/// If cgroups tell containers apart, a match stands for its container.
namespace tenure::tests {
namespace {

using testing::HasSubstr;

class TargetContainer : public testing::TestWithParam<apart> {
 protected:
  void SetUp() override {
    if (!pod_.missing().empty()) GTEST_SKIP() << pod_.missing();
  }

  /// What ends leaves its cgroup, with nothing open any more, a moment before it shows as ended.
  bool end(pid_t one, pid_t other) {
    return eventually([&] { return !pod_.runs(one) && !pod_.runs(other); });
  }

  pod pod_{GetParam()};
};

TEST_P(TargetContainer, WhoeverIsInTheContainerOfAMatchIsTheWorkload) {
  const pid_t main = pod_.start_program('b', "sleep 1000");
  const pid_t beside = pod_.start_program('b', "sleep 2000");
  const pid_t stranger = pod_.start_program('c', "sleep 2000");
  const pid_t ours = pod_.start_program('a', "sleep 2000");
  auto finder = pod_.finder("command_line", "sleep 1000");
  EXPECT_TRUE(eventually([&] { return finder->ask("look").starts_with("left=2 matching=1 "); }));
  EXPECT_EQ(killed(*finder), nothing_left);
  EXPECT_TRUE(end(main, beside));
  EXPECT_TRUE(pod_.runs(stranger));
  EXPECT_TRUE(pod_.runs(ours));
  EXPECT_TRUE(pod_.runs(1));
}

TEST_P(TargetContainer, WhatIsNestedInTheContainerBelongsToIt) {
  const pid_t main = pod_.start_program('b', "sleep 1000");
  const pid_t deep = pod_.start_program('b', "sleep 2000", {}, "/nested/deeper");
  auto finder = pod_.finder("command_line", "sleep 1000");
  EXPECT_TRUE(eventually([&] { return finder->ask("look").starts_with("left=2 matching=1 "); }));
  EXPECT_EQ(killed(*finder), nothing_left);
  EXPECT_TRUE(end(main, deep));
}

TEST_P(TargetContainer, AContainerStaysTheWorkloadsAfterItsMatchHasEnded) {
  const pid_t main = pod_.start_program('b', "sleep 1000");
  const pid_t rest = pod_.start_program('b', "sleep 2000");
  auto finder = pod_.finder("command_line", "sleep 1000");
  EXPECT_TRUE(eventually([&] { return finder->ask("look").starts_with("left=2 matching=1 "); }));
  pod_.signal(main, SIGKILL);
  EXPECT_TRUE(eventually([&] { return finder->ask("look").starts_with("left=1 matching=0 "); }));
  // No look ever saw it together with the match, and it descends from no member.
  const pid_t late = pod_.start_program('b', "sleep 3000");
  EXPECT_TRUE(finder->ask("look").starts_with("left=2 matching=0 "));
  EXPECT_EQ(killed(*finder), nothing_left);
  EXPECT_TRUE(end(rest, late));
  // An empty container is forgotten: the kubelet starts the next one with another id.
  const pid_t after = pod_.start_program('b', "sleep 3000");
  EXPECT_EQ(finder->ask("kill"), nothing_left);
  EXPECT_TRUE(pod_.runs(after));
}

TEST_P(TargetContainer, AMatchInOurOwnContainerIsNeverTouched) {
  const pid_t ours = pod_.start_program('a', "sleep 1000");
  EXPECT_THAT(pod_.survey("command_line", "sleep 1000"),
              HasSubstr("names process " + std::to_string(ours) +
                        " (sleep 1000), which is in our own container; name what only the main"));
  auto finder = pod_.finder("command_line", "sleep 1000");
  EXPECT_EQ(finder->ask("kill"), nothing_left);
  EXPECT_TRUE(pod_.runs(ours));
}

TEST_P(TargetContainer, OneWhoseFirstThreadHasEndedIsFoundByItsContainer) {
  pod_.start_program('b', "sleep 1000");
  const pid_t headless = pod_.start_script('b', "exec " TARGET_STAGE " headless");
  pod_.signal(headless, SIGUSR1);
  EXPECT_TRUE(eventually([&] { return !pod_.runs(headless); }));
  auto finder = pod_.finder("command_line", "sleep 1000");
  EXPECT_TRUE(eventually([&] { return finder->ask("look").starts_with("left=2 matching=1 "); }));
  EXPECT_EQ(killed(*finder), nothing_left);
}

TEST_P(TargetContainer, APersonIsToldTheContainerAndWhy) {
  const pid_t main = pod_.start_program('b', "sleep 1000");
  const pid_t beside = pod_.start_program('b', "sleep 2000");
  EXPECT_EQ(pod_.survey("command_line", "sleep 1000"),
            "process " + std::to_string(main) +
                " (sleep 1000) in container bbbbbbbbbbbb: its command line begins with \"sleep "
                "1000\"\nprocess " +
                std::to_string(beside) +
                " (sleep 2000) in container bbbbbbbbbbbb: it is in the container of a target "
                "process\n");
  EXPECT_EQ(pod_.fault(), 0);
}

INSTANTIATE_TEST_SUITE_P(ByCgroups, TargetContainer,
                         testing::Values(apart::by_version_1, apart::by_version_2,
                                         apart::by_private_namespace),
                         [](const auto& info) {
                           if (info.param == apart::by_version_1) return "Version1";
                           return info.param == apart::by_version_2 ? "Version2"
                                                                    : "PrivateNamespace";
                         });

}  // namespace
}  // namespace tenure::tests
