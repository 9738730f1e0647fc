// What a mirror makes of the Leases that are held, read, watched and written, one after the other.

#include "mirror_scene.hpp"

namespace tenure::stores::kubernetes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// When others may take it -------------------------------------------------------------------------

TEST_F(KubernetesMirror, ALeaseRunsOutAfterWeHaveSeenItChange) {
  mirror m = of();
  read(m, {held(10, foreign_)}, 10, 0);
  EXPECT_FALSE(m.find_vacancy(at(14)));
  const auto found = m.find_vacancy(at(15));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->slot, 0U);
  EXPECT_EQ(found->lease, held(10, foreign_)) << "what the write relies on";
  EXPECT_FALSE(found->is_clean);
  EXPECT_EQ(m.observe(at(0)).expires_at, at(15));
  EXPECT_EQ(m.observe(at(0)).retry_at, at(15));
}

TEST_F(KubernetesMirror, TimesOfOtherMachinesDoNotCount) {
  for (const std::int64_t renewed : {std::int64_t{1}, std::int64_t{9'999'999'999'999}}) {
    mirror m = of();
    read(m, {held(10, foreign_, 1, renewed)}, 10, 0);
    EXPECT_EQ(m.observe(at(0)).expires_at, at(15));
  }
}

TEST_F(KubernetesMirror, TheLeaseSaysForHowLong) {
  mirror m = of();
  lease_object longer = held(10, foreign_);
  longer.duration_s = 60;
  read(m, {longer}, 10, 0);
  EXPECT_EQ(m.observe(at(0)).expires_at, at(60));
  longer.duration_s.reset();
  longer.resource_version = 11;
  longer.spec = "without a duration";
  m.take(longer, at(5));
  EXPECT_EQ(m.observe(at(5)).expires_at, at(20)) << "one that does not say has our ttl";
}

TEST_F(KubernetesMirror, ARenewalIsCountedFromWhenItWasSeen) {
  mirror m = of();
  read(m, {held(10, foreign_)}, 10, 0);
  m.take(held(12, foreign_, 1, 1), at(10));
  EXPECT_EQ(m.observe(at(10)).expires_at, at(25));
  read(m, {held(14, foreign_, 1, 2)}, 14, 20, false);
  EXPECT_EQ(m.observe(at(20)).expires_at, at(35)) << "a list shows changes, too";
}

TEST_F(KubernetesMirror, AChangeThatIsNotOfTheSpecIsNoRenewal) {
  mirror m = of();
  read(m, {held(10, foreign_)}, 10, 0);
  m.take(note(held(12, foreign_), "kubectl.kubernetes.io/x", "y"), at(10));
  EXPECT_EQ(m.observe(at(10)).expires_at, at(15)) << "client-go counts so, too";
  EXPECT_EQ(m.lease("db")->resource_version, 12U) << "and yet it is what a write relies on";
}

TEST_F(KubernetesMirror, AfterAGapEveryHolderMayHaveRenewed) {
  mirror m = of();
  read(m, {held(10, foreign_)}, 10, 0);
  read(m, {held(10, foreign_)}, 10, 12, false);
  EXPECT_EQ(m.observe(at(12)).expires_at, at(15)) << "nothing was missed";
  read(m, {held(10, foreign_)}, 10, 14, true);
  EXPECT_EQ(m.observe(at(14)).expires_at, at(29)) << "it may be of a restored store";
}

// Another member's term ---------------------------------------------------------------------------

TEST_F(KubernetesMirror, AnotherMembersTermIsKnownByItsLeaseAndItsVersion) {
  mirror m = of();
  read(m, {held(10, other_)}, 10);
  const core::holder shown = m.observe(at(0)).holders.at(0);
  EXPECT_TRUE(m.find_term(shown));
  m.take(held(12, other_, 1, 1), at(1));
  EXPECT_TRUE(m.find_term(shown)) << "it was renewed";
  m.take(held(14, other_, 2), at(2));
  EXPECT_FALSE(m.find_term(shown)) << "it is another one of the same member";
  lease_object made_again = held(10, other_);
  made_again.uid = "another";
  read(m, {made_again}, 10);
  EXPECT_FALSE(m.find_term(shown)) << "a restored store has given its version again";
  for (const std::string& not_another_member : {us_, foreign_}) {
    read(m, {held(10, not_another_member)}, 10);
    EXPECT_FALSE(m.find_term(m.observe(at(0)).holders.at(0))) << not_another_member;
  }
}

// The newest state --------------------------------------------------------------------------------

TEST_F(KubernetesMirror, TheNewestStateOfALeaseCounts) {
  mirror m = of();
  read(m, {held(10, foreign_)}, 10);
  m.take(held(20, other_, 2), at(1));
  m.take(held(15, foreign_, 1, 1), at(2));
  read(m, {held(16, foreign_, 1, 2)}, 16, 3, false);
  EXPECT_EQ(m.lease("db")->resource_version, 20U);
  EXPECT_EQ(m.holders().front().identity, "b");
  EXPECT_EQ(m.version(), 20U);
}

TEST_F(KubernetesMirror, AfterAGapVersionsMayGoBack) {
  mirror m = of();
  read(m, {held(20, other_, 2)}, 20);
  read(m, {held(10, foreign_)}, 12, 1, true);
  EXPECT_EQ(m.lease("db")->resource_version, 10U);
  EXPECT_EQ(m.version(), 12U);
  EXPECT_EQ(m.observe(at(1)).as_of, core::version{12});
}

TEST_F(KubernetesMirror, ALateReplyDoesNotBringADeletedLeaseBack) {
  mirror m = of();
  read(m, {held(10, foreign_)}, 10);
  m.take_away("db", 20);
  m.take(held(15, foreign_, 1, 1), at(2));
  EXPECT_THAT(m.holders(), IsEmpty());
  m.take(held(21, foreign_, 1, 2), at(3));
  EXPECT_THAT(m.holders(), SizeIs(1)) << "it was made again";
}

TEST_F(KubernetesMirror, ALateReplyDoesNotBringBackWhatAListDoesNotHave) {
  mirror m = of();
  read(m, {held(10, foreign_)}, 10);
  read(m, {}, 20, 1, false);
  m.take(held(15, foreign_, 1, 1), at(2));
  EXPECT_THAT(m.holders(), IsEmpty());
  read(m, {}, 18, 3, false);
  m.take(held(19, foreign_, 1, 1), at(4));
  EXPECT_THAT(m.holders(), IsEmpty()) << "nor after a list that came late";
}

TEST_F(KubernetesMirror, ALateListDoesNotBringBackWhatWasDeletedSince) {
  mirror m = of();
  read(m, {held(10, foreign_)}, 10);
  m.take_away("db", 20);
  read(m, {held(10, foreign_)}, 15, 1, false);
  EXPECT_THAT(m.holders(), IsEmpty());
}

TEST_F(KubernetesMirror, ALateDeletionDoesNotTakeANewLeaseAway) {
  mirror m = of();
  read(m, {held(20, foreign_)}, 20);
  m.take_away("db", 15);
  EXPECT_THAT(m.holders(), SizeIs(1));
}

TEST_F(KubernetesMirror, ALateListDoesNotTakeAwayWhatWasWrittenAfterIt) {
  mirror m = of();
  read(m, {}, 10);
  m.take(held(20, us_), at(1));
  read(m, {}, 15, 2, false);
  EXPECT_THAT(m.holders(), SizeIs(1));
  read(m, {}, 15, 3, true);
  EXPECT_THAT(m.holders(), IsEmpty()) << "unless the store may have been restored";
}

TEST_F(KubernetesMirror, OnlyLeasesOfTheElectionCount) {
  mirror m = of();
  lease_object strange = held(10, foreign_, 1, 0, "db.slot-1");
  strange.labels.clear();
  EXPECT_FALSE(m.has(strange)) << "somebody else's, of that name by chance";
  strange.labels.emplace(election_label, "other");
  EXPECT_FALSE(m.has(strange));
  EXPECT_TRUE(m.has(held(10, foreign_)));
  EXPECT_TRUE(m.has(lease("db.slot-1", 10)));
  read(m, {strange}, 10);
  EXPECT_THAT(m.holders(), IsEmpty());
}

// Versions ----------------------------------------------------------------------------------------

TEST_F(KubernetesMirror, ATermKeepsTheVersionOfItsFirstWrite) {
  mirror m = of();
  read(m, {}, 5);
  m.take(held(10, us_), at(0));
  m.take(held(11, us_, 1, 1), at(1));
  read(m, {held(12, us_, 1, 2)}, 12, 2, false);
  EXPECT_EQ(m.find_own()->version, core::version{10});
  m.take(held(13, other_, 2), at(3));
  EXPECT_EQ(m.holders().front().version, core::version{13});
}

TEST_F(KubernetesMirror, TheVersionIsNotedInTheLease) {
  const auto noted = [&](const std::string& text) {
    mirror m = of();
    read(m, {note(held(12, other_, 3), term_annotation, text)}, 12);
    return core::number(m.holders().front().version);
  };
  EXPECT_EQ(noted("3 10 tenure-b"), 10U);
  EXPECT_EQ(noted("2 10 tenure-b"), 12U) << "of an earlier term";
  EXPECT_EQ(noted("3 10 tenure-c"), 12U) << "of another run";
  EXPECT_EQ(noted("3 13 tenure-b"), 12U) << "later than the Lease itself";
  EXPECT_EQ(noted("nonsense"), 12U);
}

TEST_F(KubernetesMirror, ANoteOfOursSaysNothingOfAnotherProgram) {
  mirror m = of();
  read(m, {note(held(12, foreign_, 3), term_annotation, "3 10 ")}, 12);
  EXPECT_EQ(m.holders().front().version, core::version{12});
}

TEST_F(KubernetesMirror, ALeaseThatWasMadeAgainIsAnotherTerm) {
  mirror m = of();
  read(m, {held(10, other_)}, 10);
  lease_object again = held(20, other_);
  again.uid = "another";
  m.take(again, at(1));
  EXPECT_EQ(m.holders().front().version, core::version{20});
}

// Clean releases ----------------------------------------------------------------------------------

TEST_F(KubernetesMirror, NothingIsKnownOfASlotThatWasFreeAtFirst) {
  mirror m = of();
  read(m, {released(10, 8)}, 10);
  EXPECT_FALSE(is_clean(m)) << "it may be a restored state";
}

TEST_F(KubernetesMirror, ACleanReleaseThatWasWatchedIsBelieved) {
  mirror m = of();
  read(m, {held(10, other_)}, 10);
  m.take(released(12, 10), at(1));
  EXPECT_TRUE(is_clean(m, 1));
  EXPECT_EQ(m.observe(at(1)).last_release->holder, "b");
  read(m, {released(12, 10)}, 12, 2, true);
  EXPECT_FALSE(is_clean(m, 2)) << "the same state read anew may be a restored one";
}

TEST_F(KubernetesMirror, AReleaseThatDoesNotFitTheTermIsNotBelieved) {
  const auto after = [&](const lease_object& release) {
    mirror m = of();
    read(m, {held(10, other_)}, 10);
    m.take(release, at(1));
    return is_clean(m, 1);
  };
  EXPECT_TRUE(after(released(12, 10)));
  EXPECT_FALSE(after(released(12, 10, false))) << "it says so";
  EXPECT_FALSE(after(held(12, ""))) << "an operator has freed it";
  EXPECT_FALSE(after(note(released(12, 10), release_annotation, "9 clean - 0 b")))
      << "the note is of another version than the term";
  EXPECT_FALSE(after(note(released(12, 10), term_annotation, "2 10 tenure-b 0")))
      << "of other transitions";
  EXPECT_FALSE(after(note(released(12, 10), term_annotation, ""))) << "of no known term";
  lease_object untold = released(16, 10);
  untold.renewed_ms = 1;
  EXPECT_FALSE(after(untold)) << "another program has held it since, and counted no transition";
  lease_object foreign = released(15, 10);
  foreign.transitions = 2;
  foreign.spec = "another program has held it since";
  EXPECT_FALSE(after(foreign));
}

TEST_F(KubernetesMirror, ALeaseThatRanOutIsInDoubt) {
  mirror m = of();
  read(m, {held(10, other_)}, 10);
  m.take(released(12, 10), at(1));
  m.take(held(13, foreign_, 2), at(2));
  EXPECT_FALSE(is_clean(m, 17));
}

TEST_F(KubernetesMirror, ADeletionMakesDoubt) {
  for (const bool was_held : {true, false}) {
    mirror m = of();
    read(m, {held(10, other_)}, 10);
    if (!was_held) m.take(released(12, 10), at(1));
    m.take_away("db", 20);
    EXPECT_FALSE(is_clean(m, 2)) << was_held;
    EXPECT_FALSE(m.find_vacancy(at(2))->lease) << "it is made";
  }
}

TEST_F(KubernetesMirror, ADoubtIsWaitedForOnce) {
  mirror m = of();
  read(m, {lease("db", 10)}, 10);
  m.take(held(11, other_), at(1));
  m.take(released(12, 11), at(2));
  EXPECT_TRUE(is_clean(m, 2)) << "the one in between has waited";
}

TEST_F(KubernetesMirror, AHolderThatWasMissedIsInDoubtUnlessTheLastReleaseIsClean) {
  mirror m = of();
  read(m, {held(10, other_)}, 10);
  m.take(held(20, other_, 3), at(1));
  m.take(held(30, "", 5), at(2));
  EXPECT_FALSE(is_clean(m, 2));
  m.take(released(40, 35, true, 6), at(3));
  EXPECT_EQ(m.observe(at(3)).last_release->version, core::version{35});
}

/// An operator has applied an old backup, in which an earlier holder has the Lease.
TEST_F(KubernetesMirror, AReleaseOfAnEarlierTermDoesNotVouchForALaterOne) {
  for (const bool is_deleted_before : {false, true}) {
    mirror m = of();
    read(m, {held(10, other_)}, 10);
    m.take(held(20, "c_tenure-c", 2), at(1));
    if (is_deleted_before) m.take_away("db", 25);
    const std::string term =
        term_text({.transitions = 1, .version = core::version{10}, .mark = "tenure-b"});
    m.take(note(held(30, other_), term_annotation, term), at(2));
    m.take(released(31, 10), at(3));
    EXPECT_FALSE(is_clean(m, 3)) << is_deleted_before;
    m.take(held(32, us_, 2), at(4));
    m.take(released(33, 32, true, 2), at(5));
    EXPECT_TRUE(is_clean(m, 5)) << "who took it has waited";
  }
}

// Our own -----------------------------------------------------------------------------------------

TEST_F(KubernetesMirror, OursIsKnownByItsMark) {
  mirror m = of();
  read(m, {held(10, "a_tenure-b")}, 10);
  EXPECT_FALSE(m.find_own());
  m.take(held(11, "earlier-name_tenure-a", 2), at(0));
  ASSERT_TRUE(m.find_own());
  EXPECT_EQ(m.find_own()->identity, "earlier-name");
  EXPECT_THAT(m.observe(at(0)).holders, ElementsAre(core::holder{.identity = "earlier-name",
                                                                 .version = core::version{11},
                                                                 .ours = true,
                                                                 .sequencer = "/db/uid-of-db@11"}));
  EXPECT_EQ(m.observe(at(0)).retry_at, core::never) << "we do not wait for ourselves";
}

TEST_F(KubernetesMirror, ATermThatOthersDoNotWaitForIsNotOurs) {
  mirror m = of();
  read(m, {held(10, us_)}, 10);
  m.count_on(mirror::counted_term{.slot = 0, .duration_s = 15});
  EXPECT_TRUE(m.observe(at(0)).holders.front().ours);
  lease_object shorter = held(11, us_, 1, 1);
  shorter.duration_s = 14;
  m.take(shorter, at(1));
  EXPECT_FALSE(m.observe(at(1)).holders.front().ours);
  EXPECT_EQ(m.observe(at(1)).retry_at, at(15));
  shorter.resource_version = 12;
  shorter.duration_s.reset();
  m.take(shorter, at(2));
  EXPECT_FALSE(m.observe(at(2)).holders.front().ours) << "Go programs do not wait at all";
  m.count_on(std::nullopt);
  EXPECT_TRUE(m.observe(at(1)).holders.front().ours) << "an earlier run's, which we do not hold";
}

// Kubernetes' coordinated leader election ---------------------------------------------------------

TEST_F(KubernetesMirror, APreferredHolderEndsOurTermByAnOrder) {
  mirror m = of();
  lease_object lease = held(10, us_, 3);
  lease.preferred = "c";
  read(m, {lease}, 10);
  const core::observation shown = m.observe(at(0));
  ASSERT_THAT(shown.orders, SizeIs(1));
  EXPECT_EQ(shown.orders[0].id, preference_id(lease.uid, 10));
  EXPECT_EQ(shown.orders[0].wanted.what, core::order_action::resign);
  EXPECT_EQ(shown.orders[0].wanted.member, "a");
  EXPECT_EQ(shown.orders[0].version, core::version{10});
  EXPECT_THAT(m.trouble(), testing::HasSubstr("held by c next"));
  lease.resource_version = 11;
  lease.spec = "renewed";
  m.take(lease, at(1));
  EXPECT_NE(m.observe(at(1)).orders[0].id, shown.orders[0].id) << "each renewal asks again";
}

TEST_F(KubernetesMirror, WhoIsPreferredHasNoTrouble) {
  for (const std::string& preferred : {us_, std::string("a"), std::string()}) {
    mirror m = of();
    lease_object lease = held(10, us_);
    lease.preferred = preferred;
    if (!preferred.empty()) lease.strategy = "OldestEmulationVersion";
    read(m, {lease}, 10);
    EXPECT_THAT(m.observe(at(0)).orders, IsEmpty()) << preferred;
    EXPECT_EQ(m.trouble(), "") << preferred;
  }
}

TEST_F(KubernetesMirror, ANewHolderIsChosenByKubernetesWhereItHasAStrategy) {
  mirror m = of();
  lease_object lease = this->lease("db", 10);
  lease.strategy = "OldestEmulationVersion";
  read(m, {lease}, 10);
  EXPECT_THAT(m.trouble(), testing::HasSubstr("coordinated leader election"));
  EXPECT_THAT(m.observe(at(0)).orders, IsEmpty());
}

TEST_F(KubernetesMirror, APreferenceIsNoOrderToOthers) {
  mirror m = of();
  lease_object lease = held(10, other_);
  lease.preferred = "c";
  read(m, {lease}, 10);
  EXPECT_THAT(m.observe(at(0)).orders, IsEmpty());
}

TEST_F(KubernetesMirror, AReleaseOfAnEarlierTermIsNoneOfTheOneThatWasHeld) {
  mirror m = of();
  read(m, {held(10, other_)}, 10, 0);
  m.take(released(11, 10), at(1));
  ASSERT_TRUE(is_clean(m, 1));
  m.take(held(12, other_, 2), at(2));
  m.take(released(13, 10), at(3));
  EXPECT_FALSE(is_clean(m, 3)) << "somebody has applied what was there before";
}

TEST_F(KubernetesMirror, ATermThatIsLostIsNotOursAgain) {
  mirror m = of();
  read(m, {held(10, us_)}, 10, 0);
  ASSERT_TRUE(m.observe(at(0)).holders.front().ours);
  m.lose(core::version{10});
  EXPECT_FALSE(m.observe(at(0)).holders.front().ours);
  EXPECT_FALSE(m.find_own());
  EXPECT_TRUE(m.find_lost(at(14)));
  EXPECT_FALSE(m.find_lost(at(15)));
  EXPECT_FALSE(m.find_vacancy(at(14)));
  const auto next = m.find_vacancy(at(15));
  ASSERT_TRUE(next);
  EXPECT_FALSE(next->is_clean);
  m.find_again(core::version{10});
  EXPECT_TRUE(m.find_own()) << "a restored store may grant a number again";
}

/// An operator has applied a Lease of an earlier term of ours, or has put its label on again.
TEST_F(KubernetesMirror, WhileWeHoldATermNoOtherLeaseIsOurs) {
  mirror m = of(2);
  read(m, {held(10, us_)}, 10, 0);
  m.count_on(mirror::counted_term{.slot = 0, .duration_s = 15});
  m.take(note(held(11, us_, 1, 0, "db.slot-1"), term_annotation,
              term_text({.transitions = 1, .version = core::version{5}, .mark = "tenure-a"})),
         at(0));
  const auto own = m.find_own();
  ASSERT_TRUE(own);
  EXPECT_EQ(own->version, core::version{10});
  const core::observation shown = m.observe(at(0));
  ASSERT_THAT(shown.holders, SizeIs(2));
  EXPECT_EQ(shown.holders[0].version, core::version{5});
  EXPECT_FALSE(shown.holders[0].ours);
  EXPECT_TRUE(shown.holders[1].ours);
  EXPECT_TRUE(m.find_lost(at(14)));
  EXPECT_FALSE(m.find_lost(at(15))) << "nobody renews it";
}

/// Whoever holds an open slot was granted it beside those of the other open ones; a held slot is
/// not closed.
TEST_F(KubernetesMirror, ALeaseInASlotThatIsNotOpenIsNotOurs) {
  mirror m = of();
  read(m, {note(held(10, other_), slots_annotation, "0 0"), held(11, us_, 1, 0, "db.slot-1")}, 11);
  EXPECT_FALSE(m.find_own());
  EXPECT_TRUE(m.find_lost(at(14)));
  EXPECT_FALSE(m.find_lost(at(15)));
  EXPECT_FALSE(m.observe(at(0)).holders.back().ours);
  m.take(note(held(12, other_), slots_annotation, "1 0 1"), at(1));
  EXPECT_TRUE(m.find_own());
  m.count_on(mirror::counted_term{.slot = 1, .duration_s = 15});
  m.take(note(held(13, other_), slots_annotation, "2 0"), at(2));
  EXPECT_TRUE(m.find_own()) << "an operator has edited the list while we hold";
}

TEST_F(KubernetesMirror, OfSeveralTermsOfOursTheNewestIsLookedFor) {
  mirror m = of(2);
  read(m, {held(10, us_), held(11, us_, 1, 0, "db.slot-1")}, 11, 0);
  ASSERT_TRUE(m.find_own());
  EXPECT_EQ(m.find_own()->version, core::version{11}) << "nothing runs by an earlier one";
}

TEST_F(KubernetesMirror, ATermThatIsLostMayRunOutBeforeAnotherOne) {
  mirror m = of(2);
  read(m, {held(10, us_), held(11, us_, 1, 0, "db.slot-1")}, 11, 0);
  m.count_on(mirror::counted_term{.slot = 1, .duration_s = 15});
  m.lose(core::version{11});
  m.take(held(12, us_, 1, 1, "db.slot-1"), at(10));
  const auto lost = m.find_lost(at(20));
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->slot, 1U);
}

}  // namespace
}  // namespace tenure::stores::kubernetes
