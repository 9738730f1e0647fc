#include "cli/client/wait_condition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

wire::election_report standby() {
  return {.election = "db",
          .identity = "a",
          .state = "candidate",
          .holder = core::holder{.identity = "b", .version = core::version{7}},
          .holders = {{.identity = "b", .version = core::version{7}}}};
}

wire::election_report active() {
  return {.election = "db",
          .identity = "a",
          .state = "active",
          .is_self = true,
          .holder = core::holder{.identity = "a", .version = core::version{8}},
          .holders = {{.identity = "a", .version = core::version{8}}}};
}

met judged(const char* text, const wire::election_report& now) {
  const auto what = parse_condition(text);
  EXPECT_TRUE(what) << text;
  return what ? judge(*what, now) : met::no;
}

bool is_met(const char* text, const wire::election_report& now) {
  return judged(text, now) == met::yes;
}

/// As the agent of a standby says it whose store has been down for 12 s.
wire::election_report in_doubt(wire::election_report now) {
  now.holder_known = false;
  now.holder_age_ms = 12'000;
  now.store = {
      .kind = "etcd", .reachable = false, .last_answer_ms = 12'000, .why = "connection refused"};
  return now;
}

TEST(WaitCondition, IsMetByTheStateThatItNamesAlone) {
  EXPECT_TRUE(is_met("standby", standby()));
  EXPECT_TRUE(is_met("holder=b", standby()));
  EXPECT_TRUE(is_met("held", standby()));
  EXPECT_FALSE(is_met("active", standby()));
  EXPECT_FALSE(is_met("holder=a", standby()));
  EXPECT_FALSE(is_met("vacant", standby()));
  EXPECT_TRUE(is_met("active", active()));
  EXPECT_TRUE(is_met("holder=a", active()));
  EXPECT_FALSE(is_met("standby", active()));
}

TEST(WaitCondition, AHolderWhoseLeaseIsOverOrThatMayNotActYetIsNotActive) {
  wire::election_report now = active();
  now.is_self = false;
  EXPECT_FALSE(is_met("active", now));
  now.state = "pending";
  EXPECT_FALSE(is_met("active", now));
}

TEST(WaitCondition, WhoIsPausedIsNoStandby) {
  wire::election_report now = standby();
  now.paused = true;
  EXPECT_FALSE(is_met("standby", now));
}

TEST(WaitCondition, NothingIsVacantWhileItsWorkloadIsStillStopped) {
  wire::election_report now = standby();
  now.holder.reset();
  now.holders.clear();
  EXPECT_TRUE(is_met("vacant", now));
  EXPECT_FALSE(is_met("held", now));
  now.state = "draining";
  EXPECT_FALSE(is_met("vacant", now));
}

TEST(WaitCondition, AnyOfSeveralHoldersCounts) {
  wire::election_report now = active();
  now.holders.push_back({.identity = "b", .version = core::version{9}});
  EXPECT_TRUE(is_met("holder=a", now));
  EXPECT_TRUE(is_met("holder=b", now));
}

TEST(WaitCondition, WhoHoldsIsNeitherYesNorNoWithoutTheStore) {
  wire::election_report now = in_doubt(standby());
  for (const char* one : {"vacant", "held", "holder=a", "holder=b"}) {
    EXPECT_EQ(judged(one, now), met::cannot_tell) << one;
  }
  now.holders.clear();
  EXPECT_EQ(judged("vacant", now), met::cannot_tell);
  EXPECT_EQ(judged("held", now), met::cannot_tell);
  EXPECT_EQ(judged("standby", now), met::yes) << "that is this member's own";
  EXPECT_EQ(judged("active", now), met::no);
}

TEST(WaitCondition, OwnLeaseOfSeveralSlotsIsCertain) {
  EXPECT_EQ(judged("holder=a", in_doubt(active())), met::yes);
  EXPECT_EQ(judged("held", in_doubt(active())), met::yes);
  EXPECT_EQ(judged("holder=b", in_doubt(active())), met::cannot_tell);
}

TEST(WaitCondition, WhatIsNoStateIsRefused) {
  for (const char* text : {"", "leader", "holder", "holder=", "ACTIVE", "active "}) {
    EXPECT_FALSE(parse_condition(text)) << text;
  }
}

TEST(WaitCondition, TheStandingIsOneSentence) {
  EXPECT_EQ(status_text(standby()), "a is a standby in db; b holds it, under version 7");
  EXPECT_EQ(status_text(active()), "a is active in db; a holds it, under version 8");
  EXPECT_EQ(status_text(in_doubt(standby())),
            "a is a standby in db; b held it, under version 7, as of 12s ago; etcd does not answer "
            "(last answer 12s ago): connection refused");
  wire::election_report never = in_doubt(standby());
  never.holders.clear();
  never.holder_age_ms.reset();
  EXPECT_THAT(status_text(never), testing::HasSubstr("; who holds it is not known; etcd does"));
}

}  // namespace
}  // namespace tenure::cli
