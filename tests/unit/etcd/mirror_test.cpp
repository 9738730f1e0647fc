#include "stores/etcd/mirror.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/number_text.hpp"
#include "support/member_names.hpp"
#include "unit/etcd/watch_events.hpp"

namespace tenure::stores::etcd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const own_run& us() {
  static const own_run self{.ids = lease_ids("our session", 1), .identity = "us"};
  return self;
}

/// A key under `prefix` that is of our session.
std::string our_key(const std::string& prefix = "db/") {
  lease_ids ids = us().ids;
  return prefix + base::hex(static_cast<std::uint64_t>(ids.next()));
}

void apply(mirror& m, const std::vector<watch_event>& events) {
  m.apply(events);
}

void replace(mirror& m, const std::vector<key_value>& all, std::uint64_t revision) {
  m.replace(all, revision);
}

/// Without their sequencers.
std::vector<core::holder> holders(const mirror& m) {
  std::vector<core::holder> out = m.observe().holders;
  for (core::holder& one : out) one.sequencer.clear();
  return out;
}

core::holder holder(const std::string& identity, std::uint64_t version) {
  return {.identity = identity, .version = core::version{version}};
}

bool last_began_cleanly(const mirror& m) {
  return m.contenders().back().after_release;
}

/// Of a copy: what whoever came now would be told.
bool next_begins_cleanly(mirror m) {
  const std::uint64_t next = m.revision() + 1;
  apply(m, {came("db/next", "next", next)});
  return m.find("db/next", next)->after_release;
}

TEST(EtcdMirror, KnowsNothingBeforeItWasRead) {
  const mirror m({.name = "db", .slots = 1}, us());
  EXPECT_EQ(m.revision(), 0U);
  EXPECT_THAT(holders(m), IsEmpty());
}

TEST(EtcdMirror, TheLowestCreateRevisionsHold) {
  mirror m({.name = "db", .slots = 2}, us());
  replace(m, {key("db/c", "c", 9), key("db/a", "a", 4), key("db/b", "b", 6)}, 12);
  EXPECT_THAT(holders(m), ElementsAre(holder("a", 4), holder("b", 6)));
  EXPECT_EQ(m.contenders().size(), 3U);
  EXPECT_FALSE(m.has_room());
  EXPECT_EQ(m.observe().as_of, core::version{12});
}

TEST(EtcdMirror, AnotherMembersTermIsKnownByItsKeyAndItsRevision) {
  mirror m({.name = "db", .slots = 2}, us());
  replace(m, {key("db/a", "a", 4), key(our_key(), "us", 6)}, 12);
  const std::vector<core::holder> shown = m.observe().holders;
  ASSERT_NE(m.find_term(shown.at(0)), nullptr);
  EXPECT_EQ(m.find_term(shown.at(0))->key, "db/a");
  EXPECT_EQ(m.find_term(shown.at(1)), nullptr) << "it is ours";
  replace(m, {key("db/b", "a", 4)}, 12);
  EXPECT_EQ(m.find_term(shown.at(0)), nullptr) << "a restored store has given its revision again";
  replace(m, {key("db/a", "a", 5)}, 12);
  EXPECT_EQ(m.find_term(shown.at(0)), nullptr);
}

TEST(EtcdMirror, AnotherUsersKeyWithoutAValueIsShownByItsName) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/694d8f", "", 4)}, 5);
  EXPECT_THAT(holders(m), ElementsAre(holder("db/694d8f", 4)));
}

TEST(EtcdMirror, KeysUnderANestedNameAreContendersAsTheyAreToEtcdctl) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/x/694d8f", "x", 4)}, 5);
  EXPECT_FALSE(m.has_room());
}

TEST(EtcdMirror, NeitherItsRecordNorItsNeighboursAreContenders) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db.tenure", "3", 4), key("db.other/1", "z", 5)}, 6);
  EXPECT_TRUE(m.has_room());
}

TEST(EtcdMirror, ARecordThatSaysUncleanVouchesForNothingAndStillSaysWhy) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 4)}, 5);
  apply(m, {went("db/a", 6), came("db.tenure", "4 unclean guard_gone 77 a heir", 6)});
  EXPECT_FALSE(next_begins_cleanly(m));
  const core::release_record expected{.version = core::version{4},
                                      .holder = "a",
                                      .why = core::loss_reason::guard_gone,
                                      .heir = "heir",
                                      .at_unix_ms = 77};
  EXPECT_EQ(m.observe().last_release, expected);
}

TEST(EtcdMirror, MembersAreNamedOnceAndInOrderAndHoldNothing) {
  mirror m({.name = "db", .slots = 1}, us());
  EXPECT_FALSE(m.observe().members) << "nobody announces itself";
  replace(m, {key("db.tenure.members/2", "b", 4), key("db.tenure.members/1", "c", 5)}, 5);
  apply(m, {came("db.tenure.members/3", "b", 6), came("db.tenure.members/4", "a", 7)});
  EXPECT_THAT(tests::member_names(m.observe()), testing::Optional(ElementsAre("a", "b", "c")));
  EXPECT_TRUE(m.has_room());
  apply(m, {went("db.tenure.members/2", 8), went("db.tenure.members/1", 9)});
  EXPECT_THAT(tests::member_names(m.observe()), testing::Optional(ElementsAre("a", "b")));
  replace(m, {}, 12);
  EXPECT_FALSE(m.observe().members);
}

TEST(EtcdMirror, ObservationsShareTheListOfMembersUntilItChanges) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db.tenure.members/1", "a", 4), key("db.tenure.ready/1", "7 0 3", 4)}, 5);
  const auto first = [&] { return &*m.observe().members.value().begin(); };
  const core::member* const before = first();
  apply(m, {came("db/x", "a", 6)});
  EXPECT_EQ(first(), before) << "a holder is no news of members";
  apply(m, {came("db.tenure.ready/1", "8 0 3", 7)});
  EXPECT_EQ(first()->says.value().since_unix_ms, 8);
  apply(m, {went("db.tenure.ready/1", 8)});
  EXPECT_EQ(first()->says, std::nullopt);
}

TEST(EtcdMirror, WhatMembersSayIsShownWithTheirNames) {
  const auto says = [](const mirror& m) {
    std::vector<std::optional<core::readiness>> out;
    for (const core::member& one : m.observe().members.value()) out.push_back(one.says);
    return out;
  };
  mirror m({.name = "db", .slots = 1}, us());
  replace(m,
          {key("db.tenure.members/1", "a", 4), key("db.tenure.ready/1", "7 -2 3", 4),
           key("db.tenure.members/2", "b", 5), key("db.tenure.ready/3", "9 9 9", 5)},
          5);
  EXPECT_THAT(says(m),
              ElementsAre(core::readiness{.since_unix_ms = 7, .priority = -2, .started_unix_ms = 3},
                          std::nullopt))
      << "b is of an earlier release";
  apply(m, {came("db.tenure.ready/1", "0 -2 3", 6), came("db.tenure.ready/2", "nonsense", 6)});
  EXPECT_THAT(says(m),
              ElementsAre(core::readiness{.priority = -2, .started_unix_ms = 3}, std::nullopt));
  apply(m, {went("db.tenure.ready/1", 7)});
  EXPECT_THAT(says(m), ElementsAre(std::nullopt, std::nullopt));
  EXPECT_TRUE(m.has_room());
}

TEST(EtcdMirror, WhoStandsInLineHoldsWithWhatIsKnownOfTheHolderBefore) {
  const auto scene = [] {
    mirror m({.name = "db", .slots = 1}, us());
    replace(m, {key("db/a", "a", 4)}, 5);
    apply(m, {came(our_key(), "us", 6)});
    return m;
  };
  mirror cleanly = scene();
  EXPECT_FALSE(cleanly.find_own()->after_release);
  apply(cleanly, {went("db/a", 7), came("db.tenure", "4 clean resigned 77 a", 7)});
  EXPECT_TRUE(cleanly.find_own()->after_release);
  mirror uncleanly = scene();
  apply(uncleanly, {went("db/a", 7), came("db.tenure", "4 unclean guard_gone 77 a", 7)});
  EXPECT_FALSE(uncleanly.find_own()->after_release);
  mirror deleted = scene();
  apply(deleted, {went("db/a", 7)});
  EXPECT_FALSE(deleted.find_own()->after_release);
  mirror of_another = scene();
  apply(of_another, {went("db/a", 7), came("db.tenure", "3 clean resigned 77 a", 7)});
  EXPECT_FALSE(of_another.find_own()->after_release);
}

TEST(EtcdMirror, AGapInTheWatchLeavesADoubtForWhoStandsInLine) {
  mirror m({.name = "db", .slots = 1}, us());
  const std::string ours = our_key();
  replace(m, {key("db/a", "a", 4), key(ours, "us", 6)}, 6);
  replace(m, {key("db.tenure", "4 clean resigned 77 a", 7), key(ours, "us", 6)}, 7);
  ASSERT_TRUE(m.holds(*m.find_own()));
  EXPECT_FALSE(m.find_own()->after_release);
}

TEST(EtcdMirror, AProgramBetweenUsAndTheReleaseLeavesADoubt) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 4)}, 5);
  apply(m, {came("db/x", "x", 6), came(our_key(), "us", 7)});
  apply(m, {went("db/a", 8), came("db.tenure", "4 clean resigned 77 a", 8)});
  EXPECT_FALSE(m.find_own()->after_release) << "it waits still";
  apply(m, {went("db/x", 9)});
  ASSERT_TRUE(m.holds(*m.find_own()));
  EXPECT_FALSE(m.find_own()->after_release);
}

TEST(EtcdMirror, WhoIsTakenOutOfTheLineWithTheReleaseHasNotHeld) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 4)}, 5);
  apply(m, {came("db/b", "b", 6)});
  apply(m, {went("db/a", 7), went("db/b", 7), came("db.tenure", "4 clean resigned 77 a c", 7)});
  EXPECT_TRUE(next_begins_cleanly(m));
}

TEST(EtcdMirror, TheLineBesidesAMemberIsThatOfTheOtherMembers) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m,
          {key("db.tenure.members/1", "b", 4), key("db.tenure.members/2", "c", 4),
           key("db/a", "b", 5), key("db/b", "b", 6), key("db/c", "c", 7), key("db/x", "x", 8)},
          9);
  EXPECT_THAT(m.places_besides("c"), ElementsAre("db/b")) << "x is another program";
  EXPECT_THAT(m.places_besides("b"), ElementsAre("db/c"));
}

TEST(EtcdMirror, OrdersAreShownAndForgottenAndHoldNothing) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db.tenure.orders/2", "pause b 0 * *", 4), key("db.tenure.orders/3", "huh", 5)},
          5);
  ASSERT_EQ(m.observe().orders.size(), 1U) << "what is no order is not shown";
  EXPECT_EQ(m.observe().orders[0].id, "2");
  EXPECT_TRUE(m.has_room());
  apply(m, {came("db.tenure.orders/1", "resign a 7 * *", 6)});
  EXPECT_EQ(m.observe().orders.front().wanted.member, "a") << "sorted by id";
  apply(m, {came("db.tenure.orders/1", "resign a 7 * * accepted me", 7)});
  EXPECT_TRUE(m.observe().orders.front().reply);
  apply(m, {went("db.tenure.orders/1", 8)});
  EXPECT_EQ(m.observe().orders.size(), 1U);
  replace(m, {}, 12);
  EXPECT_TRUE(m.observe().orders.empty());
}

TEST(EtcdMirror, EventsThatTheReadHasShownAreSkipped) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {}, 8);
  apply(m, {came("db/a", "a", 5), came("db/b", "b", 9)});
  EXPECT_THAT(holders(m), ElementsAre(holder("b", 9)));
  EXPECT_EQ(m.revision(), 9U);
}

TEST(EtcdMirror, AKeyThatIsPutAgainKeepsItsTerm) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 4)}, 5);
  watch_event again = came("db/a", "renamed", 4);
  again.kv.mod_revision = 7;
  apply(m, {again});
  EXPECT_THAT(holders(m), ElementsAre(holder("renamed", 4)));
}

TEST(EtcdMirror, NobodyBeginsCleanlyUntilAReleaseWasSeen) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db.tenure", "3", 4)}, 5);
  EXPECT_FALSE(next_begins_cleanly(m)) << "another may have held since term 3";
  apply(m, {came("db/a", "a", 6)});
  EXPECT_FALSE(last_began_cleanly(m));
}

TEST(EtcdMirror, AReleaseInTheStepOfTheDeletionIsClean) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 4)}, 5);
  apply(m, {went("db/a", 6), came("db.tenure", "4", 6)});
  EXPECT_TRUE(next_begins_cleanly(m));
  apply(m, {came("db/b", "b", 7)});
  EXPECT_TRUE(last_began_cleanly(m));
}

TEST(EtcdMirror, ADeletionWithoutAReleaseIsNot) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db.tenure", "2", 3), key("db/a", "a", 4)}, 5);
  apply(m, {went("db/a", 6)});
  EXPECT_FALSE(next_begins_cleanly(m)) << "the record speaks of term 2";
  apply(m, {came("db/b", "b", 7)});
  EXPECT_FALSE(last_began_cleanly(m));
  // b waited for what a may have left, and then released.
  apply(m, {went("db/b", 8), came("db.tenure", "7", 8)});
  EXPECT_TRUE(next_begins_cleanly(m));
}

TEST(EtcdMirror, ARecordThatNobodyUnderstandsVouchesForNothing) {
  for (const char* value : {"", "4x", "-4", "99999999999999999999"}) {
    mirror m({.name = "db", .slots = 1}, us());
    replace(m, {key("db/a", "a", 4)}, 5);
    apply(m, {went("db/a", 6), came("db.tenure", value, 6)});
    EXPECT_FALSE(next_begins_cleanly(m)) << value;
  }
}

TEST(EtcdMirror, OneDoubtfulSlotOfTwoIsTakenByTheNextWhoWaitsForBoth) {
  mirror m({.name = "db", .slots = 2}, us());
  replace(m, {key("db/a", "a", 4), key("db/b", "b", 5)}, 6);
  apply(m, {went("db/a", 7)});
  apply(m, {went("db/b", 8), came("db.tenure", "5", 8)});
  EXPECT_FALSE(next_begins_cleanly(m));
  apply(m, {came("db/c", "c", 9)});
  EXPECT_FALSE(last_began_cleanly(m));
  apply(m, {came("db/d", "d", 10)});
  EXPECT_TRUE(last_began_cleanly(m)) << "c has taken the doubt with its slot";
}

TEST(EtcdMirror, AWaitingContenderThatGoesLeavesNoDoubt) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 4), key("db/b", "b", 5)}, 6);
  apply(m, {went("db/b", 7)});
  apply(m, {went("db/a", 8), came("db.tenure", "4", 8)});
  EXPECT_TRUE(next_begins_cleanly(m));
}

TEST(EtcdMirror, WhatWasMissedBetweenTwoReadsIsInDoubt) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 4)}, 5);
  apply(m, {went("db/a", 6), came("db.tenure", "4", 6)});
  ASSERT_TRUE(next_begins_cleanly(m));
  replace(m, {key("db.tenure", "4", 6)}, 9);
  EXPECT_FALSE(next_begins_cleanly(m)) << "another may have come and gone in 7 and 8";
}

TEST(EtcdMirror, AReadThatShowsNothingNewLeavesAVacancyInDoubt) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 4)}, 5);
  apply(m, {went("db/a", 6), came("db.tenure", "4", 6)});
  replace(m, {key("db.tenure", "4", 6)}, 6);
  EXPECT_FALSE(next_begins_cleanly(m)) << "a holder may have come, and a restore taken it away";
}

TEST(EtcdMirror, HowATermBeganIsRememberedAcrossReads) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 4)}, 5);
  apply(m, {went("db/a", 6), came("db.tenure", "4", 6), came("db/b", "b", 7)});
  replace(m, {key("db.tenure", "4", 6), key("db/b", "b", 7)}, 20);
  EXPECT_TRUE(last_began_cleanly(m));
}

TEST(EtcdMirror, ARestoredStoreMovesItBack) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 40)}, 50);
  replace(m, {key("db/a", "a", 4)}, 5);
  EXPECT_EQ(m.revision(), 5U);
  EXPECT_THAT(holders(m), ElementsAre(holder("a", 4)));
  apply(m, {went("db/a", 6)});
  EXPECT_THAT(holders(m), IsEmpty());
}

TEST(EtcdMirror, ARestoredStoreThatHasReachedTheSameRevisionIsAnother) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db.tenure.members/1", "a", 3), key("db/a", "a", 4)}, 100);
  replace(m, {}, 100);
  EXPECT_THAT(holders(m), IsEmpty());
  EXPECT_FALSE(m.observe().members.has_value());
  apply(m, {came("db/b", "b", 101)});
  EXPECT_FALSE(last_began_cleanly(m)) << "nobody knows who held in between";
}

TEST(EtcdMirror, AKeyOfARestoredStoreIsNotTakenForAnotherOfTheSameRevision) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 4)}, 5);
  apply(m, {came("db.tenure", "4", 6), went("db/a", 6), came("db/b", "b", 7)});
  ASSERT_TRUE(last_began_cleanly(m));
  replace(m, {key("db/c", "c", 7)}, 9);
  EXPECT_FALSE(last_began_cleanly(m));
}

TEST(EtcdMirror, AVacancyOfARestoredStoreIsNotThatOfTheSameRevisionBefore) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 4)}, 5);
  apply(m, {went("db/a", 6), came("db.tenure", "4", 6)});
  ASSERT_TRUE(next_begins_cleanly(m));
  replace(m, {}, 6);
  EXPECT_FALSE(next_begins_cleanly(m));
}

TEST(EtcdMirror, ADeletedAndRecreatedKeyIsAnotherTerm) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 4)}, 5);
  EXPECT_NE(m.find("db/a", 4), nullptr);
  apply(m, {went("db/a", 6), came("db/a", "a", 7)});
  EXPECT_EQ(m.find("db/a", 4), nullptr);
  EXPECT_NE(m.find("db/a", 7), nullptr);
}

TEST(EtcdMirror, TellsWhetherAReadShowsAnythingElse) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 4)}, 5);
  const std::vector<key_value> same{key("db.tenure", "1", 2), key("db/a", "a", 4)};
  const std::vector<key_value> more{key("db/a", "a", 4), key("db/b", "b", 6)};
  const std::vector<key_value> later{key("db/a", "a", 6)};
  EXPECT_TRUE(m.shows(same));
  EXPECT_FALSE(m.shows(more));
  EXPECT_FALSE(m.shows(later));
  EXPECT_FALSE(m.shows({}));
}

TEST(EtcdMirror, OursIsWhatOurSessionHasMadeWhateverItIsCalled) {
  mirror m({.name = "db", .slots = 2}, us());
  replace(m, {key("db/694d8f", "us", 4), key(our_key(), "renamed by hand", 6)}, 6);
  ASSERT_NE(m.find_own(), nullptr);
  EXPECT_EQ(m.find_own()->create_revision, 6U);
  EXPECT_FALSE(holders(m)[0].ours) << "another member under our name";
  EXPECT_TRUE(holders(m)[1].ours);
}

TEST(EtcdMirror, AgreementIsWhatTheElectionSays) {
  mirror m({.name = "db", .slots = 1}, us());
  EXPECT_TRUE(m.agrees()) << "nothing is agreed yet";
  replace(m, {key("db.tenure.agreement", "slots=2", 4), key("db/a", "a", 5), key("db/b", "b", 6)},
          7);
  EXPECT_FALSE(m.agrees());
  EXPECT_EQ(m.basis_now().agreed, 4U);
  EXPECT_EQ(m.observe().agreed.slots, 2U);
  EXPECT_THAT(holders(m), ElementsAre(holder("a", 5), holder("b", 6)))
      << "two hold, whatever we say";
  apply(m, {came("db.tenure.agreement", "slots=1", 9)});
  EXPECT_TRUE(m.agrees());
  EXPECT_EQ(m.basis_now().agreed, 9U);
  apply(m, {went("db.tenure.agreement", 10)});
  EXPECT_EQ(m.basis_now().agreed, 0U);
  EXPECT_EQ(m.observe().agreed, core::agreement{});
  apply(m, {came("db.tenure.agreement", "slots=3", 11)});
  EXPECT_FALSE(m.agrees());
  apply(m, {went("db/a", 12), went("db/b", 13)});
  EXPECT_TRUE(m.agrees()) << "nobody contends, so it may become ours";
}

TEST(EtcdMirror, AgreementThatNobodyCanReadIsWrittenAnew) {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db.tenure.agreement", "sl0ts", 4)}, 7);
  EXPECT_TRUE(m.agrees());
  EXPECT_EQ(m.basis_now().said.slots, 0U);
  EXPECT_EQ(m.basis_now().agreed, 4U) << "as it is compared";
}

TEST(EtcdMirror, NobodyKnowsWhoWasInASlotThatIsNew) {
  mirror m({.name = "db", .slots = 2}, us());
  replace(m, {key("db.tenure.agreement", "slots=1", 4), key("db/a", "a", 5)}, 7);
  apply(m, {came("db.tenure.agreement", "slots=2", 8)});
  apply(m, {came(our_key(), "us", 9)});
  ASSERT_NE(m.find_own(), nullptr);
  EXPECT_TRUE(m.holds(*m.find_own()));
  EXPECT_FALSE(m.find_own()->after_release);
}

TEST(EtcdMirror, NothingRunsInNewSlotsIfNothingRanBefore) {
  mirror m({.name = "db", .slots = 2}, us());
  replace(m, {key("db.tenure.agreement", "slots=1", 4), key("db/a", "a", 5)}, 7);
  apply(m, {went("db/a", 8), came("db.tenure", "5 clean resigned 0 a", 8)});
  apply(m, {came("db.tenure.agreement", "slots=2", 9), came(our_key(), "us", 9)});
  ASSERT_NE(m.find_own(), nullptr);
  EXPECT_TRUE(m.find_own()->after_release);
}

TEST(EtcdMirror, IdentityIsInUseByWhoeverHoldsOrWasListedBeforeUs) {
  mirror m({.name = "db", .slots = 2}, us());
  EXPECT_FALSE(m.identity_in_use());
  apply(m, {came(our_key("db.tenure.members/"), "us", 4), came("db.tenure.members/2", "us", 5)});
  EXPECT_FALSE(m.identity_in_use()) << "we came first";
  apply(m, {came("db/2", "us", 6)});
  EXPECT_TRUE(m.identity_in_use()) << "but the other holds";
  apply(m, {went("db/2", 7), went(our_key("db.tenure.members/"), 8)});
  EXPECT_TRUE(m.identity_in_use());
  apply(m, {came(our_key("db.tenure.members/"), "us", 9)});
  EXPECT_TRUE(m.identity_in_use()) << "the other came first";
  apply(m, {went("db.tenure.members/2", 10)});
  EXPECT_FALSE(m.identity_in_use());
}

TEST(EtcdMirror, TheLastAcceptanceIsRememberedOverARestore) {
  mirror m({.name = "db", .slots = 1}, us());
  const std::string accepted = "slots=1 versions_from=9 accepted_unix_ms=5000";
  replace(m, {key("db.tenure.agreement", accepted, 9)}, 9);
  EXPECT_EQ(m.last_accepted_unix_ms(), 5000);
  replace(m, {key("db.tenure.agreement", "slots=1", 4)}, 7);
  EXPECT_EQ(m.agreed().accepted_unix_ms, 0);
  EXPECT_EQ(m.last_accepted_unix_ms(), 5000);
}

/// "a" holds with version 4, our place behind it has 6, and a has told us that it is over.
mirror told_mirror() {
  mirror m({.name = "db", .slots = 1}, us());
  replace(m, {key("db/a", "a", 4), key(our_key(), "us", 6), key("db/z", "z", 8)}, 9);
  m.passed_on();
  return m;
}

TEST(EtcdMirrorThatWasTold, CountsThePlaceBehindTheHolderAsTheHolder) {
  const mirror m = told_mirror();
  const auto shown = m.observe().holders;
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0].version, core::version{6});
  EXPECT_TRUE(shown[0].ours);
  EXPECT_TRUE(m.contenders()[1].after_release);
  EXPECT_FALSE(m.has_room());
  EXPECT_FALSE(m.holds(m.contenders()[0]));
  EXPECT_FALSE(m.holds(m.contenders()[2]));
}

TEST(EtcdMirrorThatWasTold, GoesOnWhenTheReleaseComes) {
  mirror m = told_mirror();
  apply(m, {went("db/a", 10)});
  EXPECT_EQ(m.observe().holders.at(0).version, core::version{6});
  EXPECT_EQ(m.passed().ended, 0U);
}

TEST(EtcdMirrorThatWasTold, CountsTheOldHolderAgainIfThePlaceIsGone) {
  mirror m = told_mirror();
  apply(m, {went(our_key(), 10)});
  EXPECT_THAT(holders(m), ElementsAre(holder("a", 4)));
  replace(m, {key("db/a", "a", 4), key(our_key(), "us", 6)}, 11);
  EXPECT_THAT(holders(m), ElementsAre(holder("a", 4))) << "also if a restore brings it back";
}

TEST(EtcdMirrorThatWasTold, ForgetsItWhereAReadShowsThatOneIsGone) {
  for (const auto& left : {key("db/a", "a", 4), key(our_key(), "us", 6)}) {
    mirror m = told_mirror();
    replace(m, {left}, 11);
    replace(m, {key("db/a", "a", 4), key(our_key(), "us", 6)}, 12);
    EXPECT_THAT(holders(m), ElementsAre(holder("a", 4))) << "a restore has brought it back";
  }
}

TEST(EtcdMirrorThatWasTold, IsOfTheseTwoKeysAlone) {
  mirror m = told_mirror();
  replace(m, {key("db/a", "a", 4), key("db/between", "b", 5), key(our_key(), "us", 6)}, 11);
  EXPECT_THAT(holders(m), ElementsAre(holder("a", 4)));
  replace(m, {key("db/a", "a", 4), key(our_key(), "us", 7)}, 12);
  EXPECT_THAT(holders(m), ElementsAre(holder("a", 4)));
}

TEST(EtcdMirror, WhoWasToldAndIsGoneBeforeTheReleaseLeavesADoubt) {
  const key_value record = key("db.tenure", "4 clean none 1 a  6", 11);
  for (const bool is_there : {false, true}) {
    mirror m({.name = "db", .slots = 1}, us());
    replace(m, {}, 1);
    apply(m, {came("db/a", "a", 4)});
    apply(m, {came("db/b", "b", 6)});
    apply(m, {came("db/c", "c", 8)});
    if (!is_there) apply(m, {went("db/b", 10)});
    apply(m, {went("db/a", 11), {.erased = false, .kv = record}});
    EXPECT_EQ(m.contenders().front().identity, is_there ? "b" : "c");
    EXPECT_EQ(m.contenders().front().after_release, is_there);
  }
}

TEST(EtcdMirror, ASealIsThatOfTheKeyWithWhichItWasWritten) {
  mirror m({.name = "db", .slots = 1}, us());
  apply(m, {came("db/a", "a", 4), came("db.tenure.seal/7", "one", 4)});
  ASSERT_NE(m.seal_of(m.contenders()[0]), nullptr);
  EXPECT_EQ(*m.seal_of(m.contenders()[0]), "one");
  apply(m, {came("db.tenure.seal/7", "another", 5)});
  EXPECT_EQ(m.seal_of(m.contenders()[0]), nullptr);
  apply(m, {went("db.tenure.seal/7", 6)});
  EXPECT_EQ(m.seal_of(m.contenders()[0]), nullptr);
}

TEST(EtcdMirror, KnowsWhereAMemberIsTold) {
  mirror m({.name = "db", .slots = 1}, us());
  apply(m, {came("db.tenure.members/7", "a", 2), came("db.tenure.ready/7", "5 0 3 at:1", 2)});
  EXPECT_EQ(m.peer_of("a"), "at:1");
  EXPECT_EQ(m.peer_of("b"), "");
  apply(m, {came("db.tenure.members/8", "a", 3), came("db.tenure.ready/8", "5 0 3 at:2", 3)});
  EXPECT_EQ(m.peer_of("a"), "") << "nobody knows which of the two";
  apply(m, {went("db.tenure.members/7", 4), went("db.tenure.ready/7", 4)});
  EXPECT_EQ(m.peer_of("a"), "at:2");
}

}  // namespace
}  // namespace tenure::stores::etcd
