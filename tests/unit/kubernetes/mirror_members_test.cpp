// What a mirror makes of slots, members and orders.

#include "mirror_scene.hpp"
#include "stores/records/agreement_text.hpp"
#include "stores/records/order_text.hpp"
#include "stores/store.hpp"
#include "support/member_names.hpp"

namespace tenure::stores::kubernetes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

class KubernetesMembers : public KubernetesMirror {
 protected:
  static lease_object member(std::uint64_t version, const std::string& holder,
                             std::int64_t renewed = 0) {
    const std::string mark = parse_signature(holder).mark;
    lease_object out = held(version, holder, 0, renewed, member_name("db", mark));
    out.duration_s = 30;
    return out;
  }

  static core::left_order order(const std::string& id) {
    return {.id = id,
            .wanted = {.what = core::order_action::resign, .member = "b"},
            .version = core::version{10}};
  }

  static std::string name_of(const std::string& id) { return std::string(order_annotations) + id; }

  /// The first Lease, with this order.
  [[nodiscard]] lease_object with_order(std::uint64_t version, const core::left_order& what,
                                        std::int64_t left_ms = 0) const {
    return note(slot(0, version, other_), name_of(what.id),
                order_note_text({.left_ms = left_ms, .order = order_text(what, "x")}));
  }

  static lease_object slot(std::uint32_t number, std::uint64_t version, const std::string& holder) {
    return held(version, holder, 1, 0, slot_name("db", number));
  }
};

// Slots -------------------------------------------------------------------------------------------

TEST_F(KubernetesMembers, SlotsAreTakenFromTheSmallestOn) {
  mirror m = of(3);
  read(m, {}, 5);
  ASSERT_TRUE(m.find_vacancy(at(0)));
  EXPECT_EQ(m.find_vacancy(at(0))->slot, 0U);
  EXPECT_EQ(m.find_vacancy(at(0))->open, slots_around({}, 3));
  EXPECT_FALSE(m.find_vacancy(at(0))->is_agreed);
  m.take(note(slot(0, 10, other_), slots_annotation, "0 0 1 2"), at(0));
  EXPECT_EQ(m.find_vacancy(at(0))->slot, 1U);
  EXPECT_TRUE(m.find_vacancy(at(0))->is_agreed);
  m.take(slot(1, 11, "c_tenure-c"), at(0));
  m.take(slot(2, 12, "d_tenure-d"), at(0));
  EXPECT_FALSE(m.find_vacancy(at(0)));
  const core::observation full = m.observe(at(0));
  ASSERT_THAT(full.holders, SizeIs(3));
  EXPECT_EQ(full.holders[2].slot, 2U);
  EXPECT_EQ(full.retry_at, at(15));
  m.take(lease(slot_name("db", 1), 20), at(1));
  EXPECT_EQ(m.find_vacancy(at(1))->slot, 1U);
  EXPECT_EQ(m.observe(at(1)).retry_at, core::never) << "a free slot is not waited for";
}

TEST_F(KubernetesMembers, ASlotThatIsClosedIsNotTaken) {
  mirror m = of(2);
  read(m,
       {note(slot(0, 10, other_), slots_annotation, "1 0 1"),
        note(lease(slot_name("db", 1), 9), epoch_annotation, "2")},
       10);
  EXPECT_FALSE(m.find_vacancy(at(0))) << "a later list than the one we know closes it";
  m.take(note(slot(0, 11, other_), slots_annotation, "2 0 1"), at(0));
  EXPECT_EQ(m.find_vacancy(at(0))->slot, 1U);
}

TEST_F(KubernetesMembers, AnEpochThatCannotBeReadClosesASlotAndIsSaid) {
  mirror m = of();
  read(m, {note(lease("db", 10), epoch_annotation, "soon")}, 10);
  EXPECT_FALSE(m.find_vacancy(at(0)));
  EXPECT_THAT(m.why_closed(at(0)), testing::HasSubstr("the Lease db has an annotation"));
  m.take(note(lease("db", 11), slots_annotation, "3 0"), at(0));
  EXPECT_EQ(m.why_closed(at(0)), "") << "it can be taken";
}

/// Whoever closed it has given up, or died.
TEST_F(KubernetesMembers, ASlotThatIsClosedForAListThatNeverCameIsOpenedByAnotherList) {
  mirror m = of(3);
  const lease_object first = note(slot(0, 10, other_), slots_annotation, "1 0 1 2");
  const lease_object closed = note(lease(slot_name("db", 1), 9), epoch_annotation, "4");
  read(m, {first, closed, slot(2, 8, "c_tenure-c")}, 10);
  EXPECT_FALSE(m.find_vacancy(at(0)));
  const auto change = m.find_list_change(at(0));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->first, first) << "what the write relies on";
  EXPECT_EQ(change->list, (open_slots{.epoch = 4, .numbers = {0, 1, 2}}));
  EXPECT_EQ(m.why_closed(at(0)), "");
  m.take(note(slot(0, 11, other_), slots_annotation, slots_text(change->list)), at(0));
  EXPECT_EQ(m.find_vacancy(at(0))->slot, 1U);
  EXPECT_FALSE(m.find_list_change(at(0)));
}

TEST_F(KubernetesMembers, WithoutAListSlotsAreTakenUnderTheLargestEpoch) {
  mirror m = of(2);
  read(m, {note(lease(slot_name("db", 1), 9), epoch_annotation, "4"), slot(5, 8, other_)}, 10);
  ASSERT_TRUE(m.find_vacancy(at(0))) << "the first Lease was deleted";
  EXPECT_EQ(m.find_vacancy(at(0))->slot, 0U);
  EXPECT_EQ(m.find_vacancy(at(0))->open, (open_slots{.epoch = 4, .numbers = {0, 5}}))
      << "who holds keeps the slot";
  EXPECT_FALSE(m.find_list_change(at(0))) << "it is written with the Lease";
  EXPECT_EQ(m.largest_epoch(), 4U);
}

/// It was held when somebody deleted the first Lease, and its holder has died since.
TEST_F(KubernetesMembers, WithoutAFirstLeaseTheListOfAnotherSlotIsWrittenInOne) {
  mirror m = of();
  read(m, {slot(1, 8, other_)}, 10);
  EXPECT_FALSE(m.find_list_change(at(0))) << "it holds";
  const auto change = m.find_list_change(at(15));
  ASSERT_TRUE(change);
  EXPECT_FALSE(change->first);
  EXPECT_EQ(change->list, (open_slots{.epoch = 0, .numbers = {1}}));
}

/// Somebody else has written a Lease that looks like that of a slot.
TEST_F(KubernetesMembers, WithoutAListNoMoreSlotsAreOpenThanThereAre) {
  mirror m = of();
  read(m, {slot(0, 7, other_), slot(1, 8, "x")}, 10);
  EXPECT_EQ(m.open().numbers, (std::vector<std::uint32_t>{0}));
  EXPECT_FALSE(m.find_list_change(at(0)));
  const auto change = m.find_list_change(at(15));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->list.numbers, (std::vector<std::uint32_t>{0}));
}

TEST_F(KubernetesMembers, AListThatWasTakenOffIsWrittenAgain) {
  mirror m = of(2);
  read(m, {slot(0, 10, other_)}, 10);
  EXPECT_EQ(m.agreed().slots, 0U) << "no Go program holds it";
  const auto change = m.find_list_change(at(0));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->list, (open_slots{.epoch = 0, .numbers = {0, 1}}));
}

/// Anybody who may make Leases could keep an election from ever having a holder.
TEST_F(KubernetesMembers, WhoHoldsASlotOutsideTheListDoesNotCount) {
  mirror m = of();
  read(m, {note(lease("db", 10), slots_annotation, "1 0"), slot(1, 9, other_)}, 10);
  EXPECT_TRUE(m.find_vacancy(at(0)));
  EXPECT_TRUE(m.is_vacant(at(0)));
  const core::observation shown = m.observe(at(0));
  EXPECT_THAT(shown.holders, IsEmpty());
  EXPECT_EQ(shown.as_of, core::version{10}) << "it has no other slots";
  mirror none = of();
  read(none, {slot(1, 9, other_)}, 10);
  EXPECT_FALSE(none.find_vacancy(at(0))) << "there is no list: it may have had one";
}

TEST_F(KubernetesMembers, ANumberOfSlotsBecomesOursOnceAllOfTheListAreClosed) {
  mirror m = of(1);
  read(m,
       {note(held(10, other_), slots_annotation, "3 0 1 2"), slot(1, 9, "c_tenure-c"),
        slot(2, 8, "")},
       10);
  EXPECT_FALSE(m.is_vacant(at(14)));
  ASSERT_TRUE(m.is_vacant(at(15))) << "their time is over";
  EXPECT_EQ(m.find_unclosed({}), 1U);
  EXPECT_EQ(m.next_epoch(), 4U);
  m.take(note(slot(1, 11, ""), epoch_annotation, "4"), at(15));
  EXPECT_EQ(m.find_unclosed({}), 2U);
  m.take(note(slot(2, 12, ""), epoch_annotation, "6"), at(15));
  EXPECT_EQ(m.find_unclosed({}), std::nullopt);
  EXPECT_EQ(m.find_unclosed(7U), 7U) << "a late write of ours may still take it";
  const vacancy first = m.first_of_ours();
  EXPECT_EQ(first.slot, 0U);
  EXPECT_FALSE(first.is_agreed);
  EXPECT_EQ(first.open, (open_slots{.epoch = 6, .numbers = {0}}));
  EXPECT_FALSE(first.is_clean) << "the one before may still run";
  ASSERT_TRUE(first.lease);
  EXPECT_EQ(first.lease->resource_version, 10U);
  m.take(note(slot(1, 13, "c_tenure-c"), epoch_annotation, "4"), at(16));
  EXPECT_FALSE(m.is_vacant(at(16)));
}

TEST_F(KubernetesMembers, AListOfAnEarlierReleaseMayHaveGaps) {
  mirror m = of();
  read(m, {note(lease("db", 10), slots_annotation, "1 0")}, 10);
  EXPECT_FALSE(m.has_gaps());
  m.take(note(lease("db", 11), slots_annotation, "2 1"), at(0));
  EXPECT_TRUE(m.has_gaps());
  EXPECT_EQ(m.first_of_ours().open, (open_slots{.epoch = 3, .numbers = {0}}));
  m.take(note(lease("db", 12), slots_annotation, "3 0 2"), at(0));
  EXPECT_TRUE(m.has_gaps());
}

/// An operator has cleared the Lease of a holder, and has put it back after others had held.
TEST_F(KubernetesMembers, ATermThatWasPutBackDoesNotVouchForThoseInBetween) {
  mirror m = of();
  read(m, {held(10, us_)}, 10);
  EXPECT_TRUE(m.vouches(0, core::version{10}));
  read(m, {held(12, us_)}, 12, 1, true);
  EXPECT_FALSE(m.vouches(0, core::version{10})) << "while nothing was watched";
  read(m, {held(12, us_)}, 12, 2, true);
  EXPECT_FALSE(m.vouches(0, core::version{10})) << "nor when it is read once more";
  mirror watching = of();
  read(watching, {held(10, us_)}, 10);
  watching.take(lease("db", 11), at(1));
  watching.take(held(12, other_), at(1));
  watching.take(held(13, us_), at(1));
  EXPECT_FALSE(watching.vouches(0, core::version{10}));
  mirror renewing = of();
  read(renewing, {held(10, us_)}, 10);
  renewing.take(held(12, us_), at(1));
  read(renewing, {held(12, us_)}, 13, 1, true);
  EXPECT_TRUE(renewing.vouches(0, core::version{10})) << "we have renewed it";
  read(renewing, {held(14, us_, 1, 5)}, 14, 1, false);
  EXPECT_TRUE(renewing.vouches(0, core::version{10})) << "the answer to a renewal is on its way";
}

TEST_F(KubernetesMembers, TheElectionSaysHowManyMayHold) {
  mirror m = of(2);
  read(m, {note(lease("db", 10), slots_annotation, "1 0 1 2")}, 10);
  EXPECT_EQ(m.agreed().slots, 3U);
  EXPECT_FALSE(m.agrees());
  m.take(note(lease("db", 11), slots_annotation, "2 0 1"), at(0));
  EXPECT_TRUE(m.agrees());
}

TEST_F(KubernetesMembers, AGoProgramHoldsAlone) {
  mirror m = of(2);
  read(m, {held(10, foreign_)}, 10);
  EXPECT_EQ(m.agreed().slots, 1U);
  EXPECT_FALSE(m.agrees());
  m.take(lease("db", 11), at(0));
  EXPECT_EQ(m.agreed().slots, 0U);
  EXPECT_TRUE(m.agrees()) << "nothing is agreed on any more";
}

/// Another slot, which it does not know, would not keep it out.
TEST_F(KubernetesMembers, WhoFollowsAGoProgramTakesTheLeaseThatItKnows) {
  mirror m = of();
  read(m, {held(10, foreign_), slot(1, 9, other_)}, 10);
  EXPECT_EQ(m.open().numbers, (std::vector<std::uint32_t>{0}));
  const auto found = m.find_vacancy(at(15));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->slot, 0U);
}

TEST_F(KubernetesMembers, AnAcceptanceOfVersionsIsRememberedThoughAStoreIsRestored) {
  mirror m = of();
  const std::string text =
      agreement_text({.slots = 1, .versions_from = core::version{5}, .accepted_unix_ms = 1234});
  read(m, {note(lease("db", 10), agreement_annotation, text)}, 10);
  EXPECT_EQ(m.agreed().versions_from, core::version{5});
  EXPECT_EQ(m.last_accepted_unix_ms(), 1234);
  read(m, {lease("db", 3)}, 4, 1, true);
  EXPECT_EQ(m.agreed().versions_from, core::no_version);
  EXPECT_EQ(m.last_accepted_unix_ms(), 1234);
}

TEST_F(KubernetesMembers, ADoubtOfOneSlotIsADoubtOfAll) {
  mirror m = of(2);
  read(m, {slot(0, 10, other_), slot(1, 11, "c_tenure-c")}, 11);
  m.take(released(12, 10), at(1));
  EXPECT_TRUE(is_clean(m, 1));
  m.take(lease(slot_name("db", 1), 13), at(1));
  EXPECT_FALSE(is_clean(m, 1)) << "nobody said whether the workload of slot 1 is dead";
}

// As of which version -----------------------------------------------------------------------------

/// The first Lease and the others have a watch each.
TEST_F(KubernetesMembers, ANewTermIsNotOverWhileTheWatchOfItsLeaseIsBehind) {
  mirror m = of(2);
  read(m, {note(slot(0, 9, other_), slots_annotation, "0 0 1")}, 10);
  m.reach(part::first, 105);
  EXPECT_EQ(m.observe(at(0)).as_of, core::version{10})
      << "our campaign for slot 1 may be under way";
  m.take(slot(1, 100, us_), at(0));
  m.count_on(mirror::counted_term{.slot = 1, .duration_s = 15});
  EXPECT_EQ(m.observe(at(0)).as_of, core::version{10}) << "a reply shows one Lease, no more";
  m.reach(part::others, 101);
  EXPECT_EQ(m.observe(at(0)).as_of, core::version{101});
}

TEST_F(KubernetesMembers, ATermThatIsGoneIsOverThoughTheOtherWatchIsBehind) {
  mirror m = of(2);
  read(m, {note(slot(0, 9, other_), slots_annotation, "0 0 1"), slot(1, 10, us_)}, 10);
  m.count_on(mirror::counted_term{.slot = 1, .duration_s = 15});
  m.take_away(slot_name("db", 1), 20);
  EXPECT_EQ(m.observe(at(0)).as_of, core::version{20});
}

TEST_F(KubernetesMembers, TheWatchOfMembersDoesNotCountForAnElectionOfOneSlot) {
  mirror m = of();
  read(m, {lease("db", 10)}, 10);
  m.reach(part::first, 20);
  EXPECT_FALSE(m.has_slots(part::others));
  EXPECT_EQ(m.observe(at(0)).as_of, core::version{20});
  m.take(note(lease("db", 21), slots_annotation, "1 2"), at(0));
  EXPECT_TRUE(m.has_slots(part::others)) << "it had more slots once";
  EXPECT_EQ(m.observe(at(0)).as_of, core::version{10});
}

TEST_F(KubernetesMembers, SoManyAreNotKeptThatTheyFillTheMemory) {
  mirror m = of(2);
  read(m, {}, 5);
  for (std::uint64_t i = 0; i < 10'010; ++i) {
    m.take(member(10 + i, "x_tenure-" + std::to_string(i)), at(0));
  }
  EXPECT_EQ(m.left_behind(at(61)).size(), 10'000U);
  m.take(slot(1, 20'000, other_), at(0));
  EXPECT_THAT(m.holders(), SizeIs(1)) << "what is held counts all the same";
}

// Members -----------------------------------------------------------------------------------------

TEST_F(KubernetesMembers, AreShownWhileTheyRenew) {
  mirror m = of();
  read(m, {member(10, us_), member(11, other_)}, 11);
  EXPECT_THAT(tests::member_names(m.observe(at(0))), Optional(ElementsAre("a", "b")));
  EXPECT_EQ(m.next_change(at(0)), at(30));
  m.take(member(12, us_, 1), at(20));
  EXPECT_THAT(tests::member_names(m.observe(at(30))), Optional(ElementsAre("a")));
  EXPECT_EQ(m.next_change(at(30)), at(50));
  EXPECT_EQ(m.observe(at(50)).members, std::nullopt);
  EXPECT_EQ(m.next_change(at(50)), core::never);
}

TEST_F(KubernetesMembers, AreNotHolders) {
  mirror m = of();
  read(m, {member(10, other_)}, 10);
  EXPECT_THAT(m.holders(), IsEmpty());
  EXPECT_TRUE(m.find_vacancy(at(0)));
}

TEST_F(KubernetesMembers, AreDeletedLongAfterTheyWereShownLast) {
  mirror m = of();
  read(m, {member(10, other_), slot(0, 11, foreign_)}, 11);
  EXPECT_THAT(m.left_behind(at(59)), IsEmpty());
  EXPECT_THAT(m.left_behind(at(60)), ElementsAre(member(10, other_))) << "but never a slot";
}

TEST_F(KubernetesMembers, ANamesakeThatCameFirstOrHoldsIsReported) {
  mirror first = of();
  read(first, {member(10, "a_tenure-b"), member(11, us_)}, 11);
  first.take(member(12, "a_tenure-b", 1), at(1));
  EXPECT_TRUE(first.observe(at(1)).identity_in_use);
  EXPECT_FALSE(first.observe(at(32)).identity_in_use) << "it renews no more";
  mirror later = of();
  read(later, {member(10, us_), member(11, "a_tenure-b")}, 11);
  EXPECT_FALSE(later.observe(at(0)).identity_in_use) << "the other one is told";
  later.take(slot(0, 12, "a_tenure-b"), at(0));
  EXPECT_TRUE(later.observe(at(0)).identity_in_use) << "it holds";
  later.take(slot(0, 13, us_), at(0));
  EXPECT_FALSE(later.observe(at(0)).identity_in_use);
}

/// A pod that crashes and is started again under its name finds what its earlier run has left.
TEST_F(KubernetesMembers, ANamesakeThatDoesNotAnswerIsReportedForAMomentOnly) {
  mirror m = of();
  read(m, {member(10, "a_tenure-b"), member(11, us_)}, 11);
  EXPECT_TRUE(m.observe(at(0)).identity_in_use);
  EXPECT_EQ(m.next_change(at(0)), at(2));
  EXPECT_FALSE(m.observe(at(2)).identity_in_use);
  read(m, {member(10, "a_tenure-b"), member(11, us_)}, 12, 5, true);
  EXPECT_FALSE(m.observe(at(5)).identity_in_use);
  read(m, {member(13, "a_tenure-b", 1), member(11, us_)}, 14, 6, true);
  EXPECT_TRUE(m.observe(at(6)).identity_in_use) << "it has renewed";
  EXPECT_TRUE(m.observe(at(10)).identity_in_use);
}

TEST_F(KubernetesMembers, NamesakesAreOtherRunsOfOurIdentity) {
  mirror m = of();
  read(m, {member(10, "a_tenure-c"), member(11, us_), member(12, other_), member(13, "a_tenure-b")},
       13);
  EXPECT_THAT(m.namesakes(at(0)),
              ElementsAre(member_name("db", "tenure-b"), member_name("db", "tenure-c")));
  EXPECT_THAT(m.namesakes(at(30)), IsEmpty());
}

TEST_F(KubernetesMembers, ANamesakeThatComesWhileWeWatchLives) {
  mirror m = of();
  read(m, {}, 5);
  m.take(member(10, "a_tenure-b"), at(0));
  EXPECT_TRUE(m.observe(at(0)).identity_in_use) << "and we are in no list";
}

TEST_F(KubernetesMembers, AMemberThatRenewsStaysTheFirst) {
  mirror m = of();
  read(m, {member(10, us_)}, 10);
  m.take(member(12, "a_tenure-b"), at(1));
  m.take(member(14, us_, 1), at(2));
  EXPECT_FALSE(m.observe(at(2)).identity_in_use);
}

// Orders ------------------------------------------------------------------------------------------

TEST_F(KubernetesMembers, AnOrderIsShownForAFewSeconds) {
  mirror m = of();
  read(m, {}, 5);
  m.take(with_order(10, order("1f")), at(0));
  EXPECT_THAT(m.observe(at(0)).orders, ElementsAre(order("1f")));
  ASSERT_TRUE(m.order("1f", at(4)));
  EXPECT_EQ(m.order("1f", at(4))->order, order("1f"));
  EXPECT_EQ(m.next_change(at(0)), at(0) + order_stays);
  EXPECT_THAT(m.observe(at(0) + order_stays).orders, IsEmpty());
  EXPECT_FALSE(m.order("1f", at(0) + order_stays));
}

TEST_F(KubernetesMembers, AnAnswerDoesNotMakeAnOrderLast) {
  mirror m = of();
  read(m, {}, 5);
  m.take(with_order(10, order("1f")), at(0));
  core::left_order with_reply = order("1f");
  with_reply.reply = core::order_reply{.accepted = true};
  m.take(with_order(11, with_reply), at(3));
  EXPECT_THAT(m.observe(at(3)).orders, ElementsAre(with_reply));
  EXPECT_THAT(m.observe(at(0) + order_stays).orders, IsEmpty());
}

TEST_F(KubernetesMembers, AnOrderThatWasLeftLongBeforeTheListIsNotShown) {
  constexpr std::int64_t now_ms = 1'769'860'800'000;
  const auto shown = [&](std::int64_t left_ms, std::int64_t date_ms) {
    mirror m = of();
    read(m, {with_order(10, order("1f"), left_ms)}, 10, 0, true, date_ms);
    return m.observe(at(0)).orders.size();
  };
  EXPECT_EQ(shown(now_ms, now_ms), 1U);
  EXPECT_EQ(shown(now_ms - 7000, now_ms), 1U) << "clocks of servers differ, and are rounded";
  EXPECT_EQ(shown(now_ms - 8000, now_ms), 0U);
  EXPECT_EQ(shown(now_ms, 0), 0U) << "nobody knows how old it is";
}

TEST_F(KubernetesMembers, AnOrderOnceShownDoesNotBecomeStaleByALaterList) {
  constexpr std::int64_t now_ms = 1'769'860'800'000;
  mirror m = of();
  read(m, {}, 5);
  m.take(with_order(10, order("1f"), now_ms - 60'000), at(0));
  read(m, {with_order(10, order("1f"), now_ms - 60'000)}, 10, 1, false, now_ms);
  EXPECT_THAT(m.observe(at(1)).orders, SizeIs(1)) << "the watch has shown when it came";
}

TEST_F(KubernetesMembers, OrdersAndWhatIsNoOrderAreTakenOffInTheEnd) {
  mirror m = of();
  read(m, {}, 5);
  lease_object both = with_order(10, order("1f"));
  m.take(note(both, name_of("2e"), "do what you want"), at(0));
  EXPECT_THAT(m.observe(at(0)).orders, ElementsAre(order("1f")));
  EXPECT_FALSE(m.order("2e", at(0)));
  EXPECT_THAT(m.finished_orders(at(9)), IsEmpty());
  EXPECT_THAT(m.finished_orders(at(10)), ElementsAre(name_of("1f"), name_of("2e")));
  m.take(slot(0, 11, other_), at(10));
  EXPECT_THAT(m.finished_orders(at(10)), IsEmpty());
}

/// The right to make Leases is not the right to write those of the election.
TEST_F(KubernetesMembers, AnotherLeaseWithAnOrderIsNone) {
  mirror m = of();
  read(m, {}, 5);
  lease_object planted = with_order(10, order("1f"));
  planted.name = "db.order-1f";
  m.take(planted, at(0));
  EXPECT_THAT(m.observe(at(0)).orders, IsEmpty());
  EXPECT_EQ(m.lease("db.order-1f"), nullptr);
}

}  // namespace
}  // namespace tenure::stores::kubernetes
