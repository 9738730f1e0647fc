// The store has the settings of an election; a member with other settings does not campaign.
#include <gmock/gmock.h>

#include <utility>
#include <vector>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

constexpr version forty{40};
constexpr version hundred{100};

/// By an election with a member that is set up for so many.
event::observed for_slots(std::uint32_t slots, event::observed seen = shows_free()) {
  seen.what.agreed.slots = slots;
  seen.what.members =
      member_list({{.identity = "old", .says = readiness{.since_unix_ms = 1, .slots = slots}}});
  return seen;
}

event::observed with_members(std::vector<core::member> all, event::observed seen = for_slots(2)) {
  seen.what.members = member_list(std::move(all));
  return seen;
}

event::observed accepted(version from, std::int64_t at_unix_ms) {
  event::observed out = shows_free(from);
  out.what.agreed = {.slots = 1, .versions_from = from, .accepted_unix_ms = at_unix_ms};
  return out;
}

campaign_obstacle obstacle(const conversation& c) {
  return c.view().held_back.why;
}

TEST(Disagreement, MemberWithAnotherNumberOfSlotsDoesNotCampaignUntilTheyAgree) {
  conversation c;
  c.starts();
  c.is_refused();
  EXPECT_EQ(c.at(1s).says(for_slots(2)), "publish");
  EXPECT_EQ(obstacle(c), campaign_obstacle::other_slots);
  EXPECT_EQ(c.next_wake(), duration::max()) << "there is nothing to wait for but the store";
  EXPECT_EQ(c.at(1h).wakes(), "");
  EXPECT_EQ(c.at(2h).says(for_slots(1)), "publish, acquire");
  EXPECT_EQ(obstacle(c), campaign_obstacle::none);
}

/// In a roll-out: those that are new wait for those that are there.
TEST(Disagreement, NumberOfSlotsFollowsTheMembers) {
  const auto set_up_for = [](const char* name, std::uint32_t slots) {
    return core::member{.identity = name, .says = readiness{.slots = slots}};
  };
  conversation c;
  c.starts();
  c.is_refused();
  c.at(1s).says(for_slots(2, shows_other(five)));
  EXPECT_EQ(obstacle(c), campaign_obstacle::other_slots) << "somebody holds";
  c.at(2s).says(with_members({set_up_for("other", 2), set_up_for("new", 1)}));
  EXPECT_EQ(obstacle(c), campaign_obstacle::other_slots) << "it may hold next";
  EXPECT_THAT(keepers_of_slots(*c.view().seen, c.view().seen->members->begin()->identity),
              ::testing::ElementsAre("other"));
  c.at(3s).says(with_members({{.identity = "earlier release"}}));
  EXPECT_EQ(obstacle(c), campaign_obstacle::other_slots) << "it does not say";
  c.at(4s).says(with_members({set_up_for("third", 3), set_up_for("new", 1)}));
  EXPECT_EQ(obstacle(c), campaign_obstacle::none) << "nobody keeps it";
}

TEST(Disagreement, NumberOfSlotsFollowsAMemberThatNobodyLists) {
  conversation c;
  c.starts();
  c.is_refused();
  event::observed seen = for_slots(2);
  seen.what.members.reset();
  EXPECT_EQ(c.at(1s).says(seen), "publish, acquire");
}

TEST(Disagreement, NumberThatNobodyHasWrittenDownIsNone) {
  conversation c;
  c.starts();
  c.is_refused();
  EXPECT_EQ(c.at(1s).says(for_slots(0)), "publish, acquire");
}

TEST(Disagreement, EndsNoTerm) {
  conversation c;
  c.becomes_active();
  c.at(2s).says(for_slots(2, shows({mine(five)}, five)));
  EXPECT_EQ(c.now_in(), phase::active);
  EXPECT_EQ(obstacle(c), campaign_obstacle::none) << "it is not a candidate";
  EXPECT_TRUE(c.subject().wants_renewal());
}

TEST(Disagreement, WhatAnAcquireMayHaveGotIsGivenBack) {
  conversation c;
  c.starts();
  c.at(10ms).says(for_slots(2));
  c.at(20ms).acquire_is_unknown();
  EXPECT_EQ(c.at(21ms).wakes(), "");
  EXPECT_EQ(c.let_go.version, no_version) << "everything our session holds";
}

TEST(Disagreement, KeyThatIsStillThereIsGivenBack) {
  conversation c(with(member(), [](auto& s) { s.slots = 2; }));
  c.starts();
  c.is_refused();
  EXPECT_EQ(c.at(1s).says(for_slots(1, shows({mine(five)}, five))), "publish, release any")
      << "fewer hold than this member is set up for, and nobody else can";
}

event::observed shows_a_twin() {
  event::observed twin = shows_free(core::version{4});
  twin.what.identity_in_use = true;
  return twin;
}

TEST(Disagreement, MemberWhoseIdentityIsInUseDoesNotCampaign) {
  conversation c;
  c.says(event::started{});
  EXPECT_EQ(c.says(shows_a_twin()), "publish") << "nor when it has just started";
  EXPECT_EQ(obstacle(c), campaign_obstacle::identity_used);
  EXPECT_EQ(c.at(1s).wakes(), "");
  EXPECT_EQ(c.at(2s).says(shows_free()), "publish, acquire");
}

TEST(Disagreement, GrantThatComesAfterItIsGivenBack) {
  conversation c;
  c.starts();
  c.at(5ms).says(shows_a_twin());
  EXPECT_EQ(c.at(10ms).is_granted(), "release any");
  EXPECT_EQ(c.now_in(), phase::candidate);
  EXPECT_EQ(c.at(20ms).is_released(), "");
  EXPECT_EQ(c.at(1s).says(shows_free(core::version{6})), "publish, acquire");
}

/// Up to a member that has given back a grant of version 40 because it had seen 100.
conversation& is_granted_an_old_version(conversation& c) {
  c.starts();
  c.is_refused();
  c.at(1s).says(shows_other(hundred));
  c.at(2s).says(shows_free(core::version{39}));
  EXPECT_EQ(c.at(2s).is_granted(forty, 2s),
            "candidate > draining: version_regressed, publish, release 40");
  c.is_released();
  return c;
}

TEST(Disagreement, OldVersionIsSaidWithBoth) {
  conversation c;
  is_granted_an_old_version(c);
  EXPECT_EQ(obstacle(c), campaign_obstacle::old_version);
  EXPECT_EQ(c.view().regressed, (regression{.granted = forty, .seen = hundred}));
  EXPECT_EQ(c.at(c.next_wake()).wakes(), "acquire") << "after a ttl it may be mended";
}

TEST(Disagreement, OperatorAcceptsThatVersionsBeginAnew) {
  conversation c;
  is_granted_an_old_version(c);
  EXPECT_EQ(c.at(3s).says(accepted(core::version{41}, 1000)),
            "forget grants above 40, publish, acquire");
  EXPECT_EQ(c.view().regressed, std::nullopt);
  EXPECT_EQ(c.at(4s).is_granted(core::version{42}, 3s, 15s, true),
            "candidate > active, publish, arm 42 until 17.35s, start 42");
}

TEST(Disagreement, AcceptanceThatWasThereAlreadyIsOfAnEarlierRestore) {
  conversation c;
  c.starts();
  c.is_refused();
  c.at(1s).says(accepted(core::version{3}, 1000));
  c.at(1s).is_refused();
  c.at(1s).says(shows_other(hundred));
  event::observed back = accepted(core::version{3}, 1000);
  c.at(2s).says(back);
  EXPECT_EQ(c.is_granted(forty, 2s),
            "candidate > draining: version_regressed, publish, release 40");
}

}  // namespace
}  // namespace tenure::core::testing
