#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "pod.hpp"
#include "support/eventually.hpp"
#include "support/sanitized.hpp"

/// Many processes, and more all the time.
namespace tenure::tests {
namespace {

using testing::HasSubstr;

/// A workload of the user "nobody" that forks until it may not fork any more.
words storm_of(int processes) {
  words out{"prlimit", "--nproc=" + std::to_string(processes), "--"};
  const words nobody = as_nobody();
  out.insert(out.end(), nobody.begin(), nobody.end());
  return out;
}

class TargetStorm : public testing::TestWithParam<apart> {
 protected:
  void SetUp() override {
    if (!pod_.missing().empty()) GTEST_SKIP() << pod_.missing();
  }

  pod pod_{GetParam()};
};

TEST_P(TargetStorm, WhatForksAsFastAsItCanIsKilledToTheLast) {
  // The limit counts a sanitizer's threads, too: one for each process.
  constexpr int limit = sanitized ? 600 : 300;
  // In a directory that this user can enter: the source tree may be in root's home.
  const std::string stage = pod_.file("target_stage");
  std::filesystem::copy_file(TARGET_STAGE, stage);
  pod_.start_script('b', "echo $$; exec " + stage + " storm", storm_of(limit));
  auto finder = pod_.finder("command_line@65534", stage + " storm");
  EXPECT_TRUE(eventually([&] {
    finder->ask("look");
    return std::stoi(finder->ask("count")) >= 200;
  }));
  EXPECT_EQ(killed(*finder), nothing_left);
}

TEST_P(TargetStorm, WhatMovesOnToANewProcessAllTheTimeIsCaught) {
  // Its parent is always gone; in a container its session is also a new one each time.
  const std::string hops = pod_.write("hops", "");
  ASSERT_EQ(::chmod(hops.c_str(), 0666), 0);
  const std::string session = GetParam() == apart::not_at_all ? "" : "setsid ";
  const std::string hop = pod_.file("hop");
  pod_.write("hop", "echo >> " + hops + "; " + session + "sh " + hop + " &\n");
  pod_.start_script('b', "echo $$; sh " + hop + "; exec sleep 1000", storm_of(300));
  auto finder = pod_.finder("command_line@65534", "sleep 1000");
  EXPECT_TRUE(eventually([&] { return finder->ask("look").contains(" matching=1 "); }));
  EXPECT_TRUE(eventually([&] { return std::filesystem::file_size(hops) > 50; }));
  EXPECT_EQ(killed(*finder), nothing_left);
  const auto at_the_end = std::filesystem::file_size(hops);
  auto hopper = pod_.finder("command_line@65534", "sh " + hop);
  EXPECT_EQ(hopper->ask("look"), nothing_left);
  EXPECT_EQ(std::filesystem::file_size(hops), at_the_end);
}

INSTANTIATE_TEST_SUITE_P(Of, TargetStorm, testing::Values(apart::not_at_all, apart::by_version_1),
                         [](const auto& info) {
                           return info.param == apart::not_at_all ? "OneSession" : "OneContainer";
                         });

class TargetMany : public testing::Test {
 protected:
  void SetUp() override {
    if (!pod_.missing().empty()) GTEST_SKIP() << pod_.missing();
    pod_.start_script('b', "for i in $(seq 100); do sleep 1000 & done; echo $$; wait");
  }

  pod pod_;
};

TEST_F(TargetMany, OnlySoManyPidfdsAreHeldAndYetAllDie) {
  auto finder = pod_.finder("command_line", "sh -c for i in");
  EXPECT_THAT(finder->ask("look"), testing::StartsWith("left=101 "));
  EXPECT_EQ(finder->ask("pidfds"), "64");
  EXPECT_EQ(killed(*finder), nothing_left);
}

TEST_F(TargetMany, PidfdsLeaveDescriptorsForReadingProc) {
  auto finder = pod_.finder("command_line", "sh -c for i in", {"prlimit", "--nofile=24", "--"});
  EXPECT_THAT(finder->ask("look"), testing::StartsWith("left=101 "));
  const int held = std::stoi(finder->ask("pidfds"));
  EXPECT_GT(held, 0);
  EXPECT_LT(held, 24);
  EXPECT_THAT(finder->ask("look"), HasSubstr("complete=1"));
  EXPECT_EQ(killed(*finder), nothing_left);
}

}  // namespace
}  // namespace tenure::tests
