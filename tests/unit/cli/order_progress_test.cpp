#include "cli/client/order_progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

/// When an order is done, and what is said of it. "a" is the member that was ordered.
namespace tenure::cli {
namespace {

constexpr core::version old_version{6};

wire::election_report seen(std::string state, std::vector<core::holder> holders,
                           std::vector<std::string> standbys = {"b", "c"}) {
  wire::election_report out{.election = "db",
                            .identity = "a",
                            .state = std::move(state),
                            .holders = std::move(holders),
                            .members = std::vector<wire::member_report>()};
  if (!out.holders.empty()) out.holder = out.holders.front();
  for (std::string& name : standbys) {
    out.members->push_back({.identity = std::move(name), .state = "standby"});
  }
  return out;
}

wire::election_report holding() {
  return seen("active", {{.identity = "a", .version = old_version}});
}

order_reading read(const given_order& order, const wire::election_report& now,
                   const wire::election_report& before = holding()) {
  return read_progress(order, before, now);
}

const given_order resign{.what = core::order_action::resign, .by = "a"};
const given_order to_c{.what = core::order_action::transfer, .to = "c", .by = "a"};
const given_order pause{.what = core::order_action::pause, .by = "a"};
const given_order resume{.what = core::order_action::resume, .by = "a"};

TEST(OrderProgress, AResignationIsUnderWayUntilTheWorkloadIsGone) {
  EXPECT_EQ(read(resign, holding()).is, progress::under_way);
  EXPECT_EQ(read(resign, seen("draining", {{.identity = "a", .version = old_version}})).is,
            progress::under_way);
  EXPECT_EQ(read(resign, seen("draining", {})).is, progress::under_way)
      << "its lease is over, its workload is not";
}

TEST(OrderProgress, AResignationIsDoneWhenSomebodyElseHolds) {
  const order_reading r =
      read(resign, seen("candidate", {{.identity = "c", .version = core::version{7}}}));
  EXPECT_EQ(r.is, progress::done);
  EXPECT_EQ(r.text, "c holds db now, under version 7");
}

TEST(OrderProgress, AResignationIsSettledWhileOthersMayStillCome) {
  EXPECT_EQ(read(resign, seen("candidate", {})).is, progress::settled);
  wire::election_report unknown = seen("candidate", {});
  unknown.members.reset();
  EXPECT_EQ(read(resign, unknown).is, progress::settled) << "the store cannot tell who is there";
}

TEST(OrderProgress, AResignationIsDoneWhenThereIsNobodyElse) {
  const order_reading r = read(resign, seen("candidate", {}, {"a"}));
  EXPECT_EQ(r.is, progress::done);
  EXPECT_EQ(r.text, "a has given db up; no other member campaigns for it");
}

TEST(OrderProgress, TheOtherHoldersOfSeveralSlotsHaveNotTakenOver) {
  wire::election_report before = holding();
  before.slots = 2;
  before.holders.push_back({.identity = "b", .version = core::version{4}});
  wire::election_report now = seen("candidate", {{.identity = "b", .version = core::version{4}}});
  now.slots = 2;
  EXPECT_EQ(read(resign, now, before).is, progress::settled);
  now.holders.push_back({.identity = "c", .version = core::version{8}});
  EXPECT_EQ(read(resign, now, before).text, "c holds db now, under version 8");
}

TEST(OrderProgress, WhoHoldsAnotherSlotDoesNotTakeOver) {
  wire::election_report now = seen("candidate", {}, {"a"});
  now.slots = 2;
  now.members->push_back({.identity = "b", .state = "active"});
  EXPECT_EQ(read(resign, now).is, progress::done);
  now.members->push_back({.identity = "c", .state = "standby"});
  EXPECT_EQ(read(resign, now).is, progress::settled);
}

TEST(OrderProgress, ATransferGoesOnWhileASlotIsLeftForItsHeir) {
  wire::election_report now = seen("candidate", {{.identity = "b", .version = core::version{7}}});
  now.slots = 2;
  EXPECT_EQ(read(to_c, now).is, progress::under_way);
  now.holders.push_back({.identity = "d", .version = core::version{8}});
  EXPECT_EQ(read(to_c, now).is, progress::otherwise);
}

TEST(OrderProgress, ATransferIsDoneWhenItsHeirHoldsAndOtherwiseIfSomebodyElseDoes) {
  EXPECT_EQ(read(to_c, seen("candidate", {})).is, progress::under_way);
  EXPECT_EQ(read(to_c, seen("candidate", {{.identity = "c", .version = core::version{7}}})).is,
            progress::done);
  const order_reading other =
      read(to_c, seen("candidate", {{.identity = "b", .version = core::version{7}}}));
  EXPECT_EQ(other.is, progress::otherwise);
  EXPECT_EQ(other.text, "b holds db now, under version 7, not c");
  const order_reading again =
      read(to_c, seen("active", {{.identity = "a", .version = core::version{7}}}));
  EXPECT_EQ(again.is, progress::otherwise) << "the heir never came";
}

TEST(OrderProgress, APauseIsDoneWhenItIsInForceAndNothingIsHeld) {
  EXPECT_EQ(read(pause, holding()).is, progress::under_way);
  wire::election_report now = holding();
  now.paused = true;
  EXPECT_EQ(read(pause, now).is, progress::under_way);
  now = seen("candidate", {{.identity = "b", .version = core::version{7}}});
  now.paused = true;
  EXPECT_EQ(read(pause, now).text, "a is paused; b holds db now, under version 7");
  EXPECT_EQ(read(pause, now).is, progress::done);
}

TEST(OrderProgress, APauseOfAStandbyWaitsForNobody) {
  wire::election_report now = seen("candidate", {});
  now.paused = true;
  const order_reading r = read(pause, now, seen("candidate", {}));
  EXPECT_EQ(r.is, progress::done);
  EXPECT_EQ(r.text, "a is paused; nobody holds db now");
}

TEST(OrderProgress, APauseIsDoneWhenThePlaceInLineIsGivenBack) {
  wire::election_report now = seen("candidate", {{.identity = "b", .version = core::version{7}}});
  const wire::election_report before = now;
  now.paused = true;
  now.in_line = true;
  EXPECT_EQ(read(pause, now, before).is, progress::under_way);
  now.in_line = false;
  EXPECT_EQ(read(pause, now, before).is, progress::done);
}

TEST(OrderProgress, AResumptionIsDoneWhenTheMemberCampaigns) {
  wire::election_report now = seen("candidate", {{.identity = "b", .version = core::version{7}}});
  now.paused = true;
  EXPECT_EQ(read(resume, now, now).is, progress::under_way);
  now.paused = false;
  now.aside_for_ms = 1000;
  EXPECT_EQ(read(resume, now, now).is, progress::under_way);
  now.aside_for_ms.reset();
  EXPECT_EQ(read(resume, now, now).is, progress::done);
}

/// As the agent of a standby, "b", sees it: the holder's own state is not shown there.
wire::election_report of_standby(std::vector<core::holder> holders) {
  wire::election_report out = seen("candidate", std::move(holders));
  out.identity = "b";
  out.members = {{.identity = "a", .state = "active"}, {.identity = "b", .state = "standby"}};
  return out;
}

TEST(OrderProgress, OfAnotherMemberItsSeatTellsHowFarItIs) {
  const wire::election_report before = of_standby({{.identity = "a", .version = old_version}});
  EXPECT_EQ(read(resign, before, before).is, progress::under_way);
  EXPECT_EQ(read(resign, before, before).text, "a is still giving db up");
  EXPECT_EQ(read(resign, of_standby({}), before).is, progress::settled);
  const order_reading done =
      read(resign, of_standby({{.identity = "b", .version = core::version{7}}}), before);
  EXPECT_EQ(done.is, progress::done);
  EXPECT_EQ(done.text, "b holds db now, under version 7");
}

TEST(OrderProgress, ThatAnotherMemberIsPausedIsNotSeenButThatItHoldsNothing) {
  const wire::election_report before = of_standby({{.identity = "a", .version = old_version}});
  EXPECT_EQ(read(pause, before, before).is, progress::under_way);
  const order_reading done =
      read(pause, of_standby({{.identity = "b", .version = core::version{7}}}), before);
  EXPECT_EQ(done.is, progress::done);
  EXPECT_EQ(done.text, "a was told to pause; b holds db now, under version 7");
  EXPECT_EQ(read(resume, before, before).text, "a was told to campaign for db again");
}

/// The agent does not reach its store any more: seats are what was last seen, or nothing was.
wire::election_report without_store(wire::election_report what) {
  what.holder_known = false;
  what.store = {.kind = "sqlite", .reachable = false, .why = "file is not a database"};
  return what;
}

constexpr const char* no_store = "sqlite does not answer: file is not a database";

TEST(OrderProgress, WhoHoldsIsNotSaidWhereTheAgentDoesNotKnow) {
  for (const std::vector<core::holder>& seats :
       {std::vector<core::holder>(),
        std::vector<core::holder>{{.identity = "b", .version = core::version{7}}}}) {
    wire::election_report standby = without_store(seen("candidate", seats));
    EXPECT_EQ(read(resume, standby, standby).is, progress::done);
    EXPECT_EQ(read(resume, standby, standby).text,
              std::string("a campaigns for db again; who holds db now is not known: ") + no_store);
    standby.paused = true;
    EXPECT_EQ(read(pause, standby, standby).is, progress::done);
    EXPECT_EQ(read(pause, standby, standby).text,
              std::string("a is paused; who holds db now is not known: ") + no_store);
  }
}

TEST(OrderProgress, WhoHasGivenUpHasDoneItsPartAlthoughItDoesNotSeeWhoCame) {
  for (std::vector<std::string> standbys : {std::vector<std::string>{"b"}, {}}) {
    const wire::election_report now = without_store(seen("candidate", {}, std::move(standbys)));
    const order_reading r = read(resign, now);
    EXPECT_EQ(r.is, progress::settled);
    EXPECT_EQ(r.text, std::string("a has given db up; who holds db now is not known: ") + no_store);
  }
  const order_reading r = read(
      to_c, without_store(seen("candidate", {{.identity = "c", .version = core::version{7}}})));
  EXPECT_EQ(r.is, progress::not_known);
  EXPECT_EQ(r.text,
            std::string("a has given db up; whether c has taken it is not known: ") + no_store);
}

TEST(OrderProgress, WhetherAnotherMemberStillHoldsIsNotSaidWhereTheAgentDoesNotKnow) {
  const wire::election_report before = of_standby({{.identity = "a", .version = old_version}});
  for (const std::vector<core::holder>& seats : {before.holders, std::vector<core::holder>()}) {
    const order_reading r = read(resign, without_store(of_standby(seats)), before);
    EXPECT_EQ(r.is, progress::not_known);
    EXPECT_EQ(r.text, std::string("whether a still holds db is not known: ") + no_store);
  }
  EXPECT_EQ(read(pause, without_store(of_standby({})), of_standby({})).text,
            std::string("a was told to pause; who holds db now is not known: ") + no_store);
}

}  // namespace
}  // namespace tenure::cli
