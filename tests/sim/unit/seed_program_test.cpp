#include "support/seeds/seed_program.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tenure::tests {
namespace {

/// What a simulator in which no rule breaks exits with, and which seeds it has run.
struct runs {
  int status = 0;
  std::vector<std::uint64_t> seeds;
};

runs said(std::vector<const char*> arguments) {
  runs out;
  arguments.insert(arguments.begin(), {"sim", "--jobs", "1"});
  const auto run = [&](std::uint64_t seed) {
    out.seeds.push_back(seed);
    return seed_outcome{};
  };
  out.status =
      run_seed_program({.name = "sim",
                        .replay_command = "./dev sim",
                        .usual_seeds = 3,
                        .run = run,
                        .replay = [&](std::uint64_t seed, std::size_t) { return run(seed); }},
                       static_cast<int>(arguments.size()), const_cast<char**>(arguments.data()));
  return out;
}

TEST(SeedProgram, RunsAsManySeedsAsItIsTold) {
  EXPECT_EQ(said({"--seeds", "2", "--from", "7"}).seeds, (std::vector<std::uint64_t>{7, 8}));
  EXPECT_EQ(said({}).seeds, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST(SeedProgram, ReplaysOneSeed) {
  EXPECT_EQ(said({"--seed", "7"}).seeds, (std::vector<std::uint64_t>{7}));
}

TEST(SeedProgram, SeedsToRunAndASeedToReplayAreTwoThings) {
  for (const auto& both :
       {std::vector{"--seeds", "5", "--seed", "7"}, std::vector{"--seed", "7", "--seeds", "5"}}) {
    const runs one = said(both);
    EXPECT_EQ(one.status, 2);
    EXPECT_TRUE(one.seeds.empty());
  }
}

// These runs reach nothing of core, which is linked with them.
TEST(SeedProgram, ARunOfThousandsThatNeverReachesAProbeFails) {
  EXPECT_EQ(said({"--seeds", "1999"}).status, 0);
  EXPECT_EQ(said({"--seeds", "2000"}).status, 1);
}

}  // namespace
}  // namespace tenure::tests
