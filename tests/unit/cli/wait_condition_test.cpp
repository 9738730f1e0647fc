#include "cli/wait_condition.hpp"

#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

election_report standby() {
  return {.election = "db",
          .identity = "a",
          .state = "candidate",
          .holder = seat{.holder = "b", .version = 7},
          .holders = {{.holder = "b", .version = 7}}};
}

election_report active() {
  return {.election = "db",
          .identity = "a",
          .state = "active",
          .is_self = true,
          .holder = seat{.holder = "a", .version = 8},
          .holders = {{.holder = "a", .version = 8}}};
}

bool met(const char* text, const election_report& now) {
  const auto what = parse_condition(text);
  EXPECT_TRUE(what) << text;
  return what && is_met(*what, now);
}

TEST(WaitCondition, IsMetByTheStateThatItNamesAlone) {
  EXPECT_TRUE(met("standby", standby()));
  EXPECT_TRUE(met("holder=b", standby()));
  EXPECT_FALSE(met("active", standby()));
  EXPECT_FALSE(met("holder=a", standby()));
  EXPECT_FALSE(met("vacant", standby()));
  EXPECT_TRUE(met("active", active()));
  EXPECT_TRUE(met("holder=a", active()));
  EXPECT_FALSE(met("standby", active()));
}

TEST(WaitCondition, AHolderWhoseLeaseIsOverOrThatMayNotActYetIsNotActive) {
  election_report now = active();
  now.is_self = false;
  EXPECT_FALSE(met("active", now));
  now.state = "pending";
  EXPECT_FALSE(met("active", now));
}

TEST(WaitCondition, WhoIsPausedIsNoStandby) {
  election_report now = standby();
  now.paused = true;
  EXPECT_FALSE(met("standby", now));
}

TEST(WaitCondition, NothingIsVacantWhileItsWorkloadIsStillStopped) {
  election_report now = standby();
  now.holder.reset();
  now.holders.clear();
  EXPECT_TRUE(met("vacant", now));
  now.state = "draining";
  EXPECT_FALSE(met("vacant", now));
}

TEST(WaitCondition, AnyOfSeveralHoldersCounts) {
  election_report now = active();
  now.holders.push_back({.holder = "b", .version = 9});
  EXPECT_TRUE(met("holder=a", now));
  EXPECT_TRUE(met("holder=b", now));
}

TEST(WaitCondition, WhatIsNoStateIsRefused) {
  for (const char* text : {"", "leader", "holder", "holder=", "ACTIVE", "active "}) {
    EXPECT_FALSE(parse_condition(text)) << text;
  }
}

TEST(WaitCondition, TheStandingIsOneSentence) {
  EXPECT_EQ(standing_text(standby()), "a is a standby in db; b holds it, under version 7");
  EXPECT_EQ(standing_text(active()), "a is active in db; a holds it, under version 8");
}

}  // namespace
}  // namespace tenure::cli
