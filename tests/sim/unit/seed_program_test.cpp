#include "support/seeds/seed_program.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tenure::tests {
namespace {

/// What a simulator exits with, and which seeds it has run.
struct runs {
  int status = 0;
  std::vector<std::uint64_t> seeds;
};

/// `broken`: the rules that seeds break. Worlds of even seeds have the trait "even".
runs said(std::vector<const char*> arguments,
          const std::map<std::uint64_t, std::string>& broken = {}) {
  runs out;
  arguments.insert(arguments.begin(), {"sim", "--jobs", "1"});
  const auto run = [&](std::uint64_t seed) {
    out.seeds.push_back(seed);
    seed_outcome done;
    if (const auto found = broken.find(seed); found != broken.end()) done.broken = found->second;
    return done;
  };
  out.status = run_seed_program(
      {.name = "sim",
       .replay_command = "./dev sim",
       .usual_seeds = 3,
       .run = run,
       .replay = [&](std::uint64_t seed, std::size_t) { return run(seed); },
       .traits =
           [](std::uint64_t seed) {
             return seed % 2 == 0 ? std::vector<std::string>{"even"} : std::vector<std::string>{};
           }},
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

TEST(SeedProgram, EndsAtTheFirstSeedThatBreaksARule) {
  const runs one = said({"--seeds", "5"}, {{2, "slow"}, {4, "late"}});
  EXPECT_EQ(one.seeds, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(one.status, 1);
}

TEST(SeedProgram, AMistakeIsLookedForUntilItsOwnRuleIsBroken) {
  const runs one = said({"--seeds", "5", "--expect", "late,never"}, {{2, "slow"}, {4, "late"}});
  EXPECT_EQ(one.seeds, (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(one.status, 0);
  EXPECT_EQ(said({"--seeds", "5", "--expect", "never"}, {{2, "slow"}}).status, 1);
  EXPECT_EQ(said({"--seeds", "5", "--expect", "any"}, {{2, "slow"}}).seeds.size(), 2U);
}

TEST(SeedProgram, CountsWithoutEnding) {
  const runs one = said({"--seeds", "5", "--count"}, {{2, "slow"}, {4, "late"}});
  EXPECT_EQ(one.seeds.size(), 5U);
  EXPECT_EQ(one.status, 1);
  EXPECT_EQ(said({"--seeds", "5", "--count"}).status, 0);
}

TEST(SeedProgram, RunsOnlyWorldsWithTheTraitsThatAreAskedFor) {
  EXPECT_EQ(said({"--seeds", "2", "--from", "7", "--where", "even"}).seeds,
            (std::vector<std::uint64_t>{8, 10}));
  const runs none = said({"--seeds", "2", "--where", "even,odd"});
  EXPECT_TRUE(none.seeds.empty());
  EXPECT_EQ(none.status, 2);
}

// These runs reach nothing of core, which is linked with them.
TEST(SeedProgram, ARunOfThousandsThatNeverReachesAProbeFails) {
  EXPECT_EQ(said({"--seeds", "1999"}).status, 0);
  EXPECT_EQ(said({"--seeds", "2000"}).status, 1);
}

}  // namespace
}  // namespace tenure::tests
