// Leases of slots whose label somebody has taken off, or has never put on: neither lists nor
// watches show them.

#include "virtual_scene.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using testing::HasSubstr;

class KubernetesLabel : public VirtualKubernetes {
 protected:
  /// One member holds the first slot of two; another one has opened the store.
  KubernetesLabel() {
    first_ = join(settings("a", seconds(60), 2));
    EXPECT_EQ(acquire(*first_), "granted");
    second_ = join(settings("b", seconds(60), 2));
  }

  [[nodiscard]] json labels() const {
    return api_.model().lease("db0.slot-1")["metadata"].value("labels", json::object());
  }

  store_ptr first_;
  store_ptr second_;
};

TEST_F(KubernetesLabel, ThatIsMissingIsPutOnByWhoTakesTheSlot) {
  api_.model().put("db0.slot-1", json::object());
  EXPECT_EQ(acquire(*second_), "granted");
  EXPECT_EQ(held_.slot, 1U);
  EXPECT_EQ(labels(), (json{{"tenure.dev/election", "db0"}}));
  EXPECT_EQ(renew(*second_), "renewed");
}

TEST_F(KubernetesLabel, ThatIsMissingDoesNotHideWhoHolds) {
  const json spec{{"holderIdentity", "go-program"}, {"leaseDurationSeconds", 60}};
  api_.model().put("db0.slot-1", spec);
  EXPECT_EQ(acquire(*second_), "refused");
  loop_.pass(seconds(50));
  EXPECT_EQ(acquire(*second_), "refused");
  // Nobody sees that it renews.
  json renewed = spec;
  renewed["renewTime"] = "2026-01-31T12:00:00.000000Z";
  api_.model().put("db0.slot-1", renewed);
  EXPECT_EQ(renew(*first_), "renewed");
  loop_.pass(seconds(11));
  EXPECT_EQ(acquire(*second_), "refused");
  loop_.pass(seconds(40));
  EXPECT_EQ(renew(*first_), "renewed");
  loop_.pass(seconds(21));
  EXPECT_EQ(acquire(*second_), "granted") << "it renews no more";
  EXPECT_EQ(labels(), (json{{"tenure.dev/election", "db0"}}));
}

TEST_F(KubernetesLabel, ThatWasTakenOffALeaseWhichIsDeletedIsNoTrouble) {
  api_.model().put("db0.slot-1", {{"holderIdentity", "go-program"}, {"leaseDurationSeconds", 60}});
  EXPECT_EQ(acquire(*second_), "refused");
  api_.model().remove("db0.slot-1");
  loop_.pass(seconds(61));
  EXPECT_EQ(acquire(*second_), "granted");
}

TEST_F(KubernetesLabel, OfAnotherElectionIsNotTouched) {
  api_.model().put("db0.slot-1", json::object());
  api_.model().merge("db0.slot-1", {{"labels", {{"tenure.dev/election", "other"}}}});
  EXPECT_THAT(acquire(*second_),
              HasSubstr("unknown: the Lease db0.slot-1 is of election \"other\" by its label"));
  EXPECT_EQ(labels(), (json{{"tenure.dev/election", "other"}}));
}

/// The right to create Leases would be enough to keep an election from having a holder.
TEST_F(KubernetesLabel, OfASlotOutsideTheListKeepsNobodyOut) {
  std::string done;
  first_->release(core::election_index{0}, core::no_version, {}, loop_.now() + seconds(1),
                  [&](const auto&) { done = "done"; });
  wait_for(done);
  auto third = join(settings("c", seconds(60)));
  ASSERT_EQ(acquire(*third), "granted");
  api_.model().put("db0.slot-7",
                   {{"holderIdentity", "nobody"}, {"leaseDurationSeconds", 2147483647}});
  api_.model().merge("db0.slot-7", {{"labels", {{"tenure.dev/election", "db0"}}}});
  done.clear();
  third->release(core::election_index{0}, core::no_version, {}, loop_.now() + seconds(1),
                 [&](const auto&) { done = "done"; });
  wait_for(done);
  auto fourth = join(settings("d", seconds(60)));
  EXPECT_EQ(acquire(*fourth), "granted");
}

TEST_F(KubernetesLabel, ThatIsMissingDoesNotKeepASlotOpen) {
  api_.model().put("db0.slot-1", json::object());
  std::string done;
  first_->release(core::election_index{0}, core::no_version, {}, loop_.now() + seconds(1),
                  [&](const auto&) { done = "done"; });
  wait_for(done);
  auto third = join(settings("c", seconds(60)));
  EXPECT_EQ(acquire(*third), "granted") << "for one slot";
  EXPECT_EQ(acquire(*second_), "refused");
}

TEST_F(KubernetesLabel, ThatIsMissingHidesNoHolderFromAMemberWithFewerSlots) {
  api_.model().put("db0.slot-1", {{"holderIdentity", "gone"}, {"leaseDurationSeconds", 60}});
  std::string done;
  first_->release(core::election_index{0}, core::no_version, {}, loop_.now() + seconds(1),
                  [&](const auto&) { done = "done"; });
  wait_for(done);
  auto third = join(settings("c", seconds(60)));
  EXPECT_EQ(acquire(*third), "refused");
}

/// The list was deleted with the first Lease. The slot of the one that is gone is closed.
TEST_F(KubernetesLabel, OrNotASlotIsTakenAfterItsHolderAlsoWithoutTheFirstLease) {
  const json spec{{"holderIdentity", "gone"}, {"leaseDurationSeconds", 60}};
  auto third = join(settings("c", seconds(60)));
  api_.model().remove("db0");
  api_.model().put("db0.slot-1", spec);
  api_.model().merge("db0.slot-1", {{"labels", {{"tenure.dev/election", "db0"}}}});
  EXPECT_EQ(acquire(*third), "refused");
  loop_.pass(seconds(61));
  EXPECT_EQ(acquire(*third), "granted");
  EXPECT_EQ(held_.slot, 0U);
}

/// A write that is carried out late would take another slot beside that of the next one.
TEST_F(KubernetesLabel, OrNotASlotThatMayBeTakenLateIsTriedAgainFirst) {
  api_.on("create", [](const auto&) { return std::nullopt; });
  EXPECT_THAT(acquire(*second_), HasSubstr("unknown: "));
  api_.repent();
  std::string done;
  first_->release(core::election_index{0}, core::no_version, {}, loop_.now() + seconds(1),
                  [&](const auto&) { done = "done"; });
  wait_for(done);
  EXPECT_EQ(acquire(*second_), "granted");
  EXPECT_EQ(held_.slot, 1U) << "the first one is free, too";
}

/// After a gap in what the watch shows, the time of the holder that is gone runs anew.
TEST_F(KubernetesLabel, OrNotNoOtherSlotIsTakenWhileAWriteMayBeCarriedOutLate) {
  second_->watch(core::election_index{0}, [](const auto&) {});
  loop_.pass(seconds(61));
  api_.on("write", [](const auto&) { return std::nullopt; });
  EXPECT_THAT(acquire(*second_), HasSubstr("unknown: "));
  api_.repent();
  api_.on("watch", [](const auto&) { return virtual_reply(410, ""); });
  api_.cut_watches();
  loop_.pass(seconds(3));
  api_.repent();
  EXPECT_THAT(acquire(*second_), HasSubstr("the Lease db0 has no answer yet and may still be"));
  loop_.pass(seconds(61));
  EXPECT_EQ(acquire(*second_), "granted");
  EXPECT_EQ(held_.slot, 0U);
}

/// What runs by it may still be dying, so it is neither taken up again nor given back.
TEST_F(KubernetesLabel, ThatWasTakenOffOurTermEndsItForGood) {
  ASSERT_EQ(acquire(*second_), "granted");
  const stores::grant lost = held_;
  second_->watch(core::election_index{0}, [](const auto&) {});
  loop_.pass(seconds(1));
  api_.model().merge("db0.slot-1", {{"labels", nullptr}});
  api_.show();
  loop_.pass(seconds(1));
  EXPECT_THAT(acquire(*second_), HasSubstr("unknown: the Lease of our lost term is still ours"));
  EXPECT_NE(api_.model().lease("db0.slot-1")["spec"]["holderIdentity"], "");
  loop_.pass(seconds(61));
  EXPECT_EQ(acquire(*second_), "granted");
  EXPECT_GT(held_.version, lost.version);
  EXPECT_FALSE(held_.released_cleanly);
}

/// Others would wait for less than its holder counts on, so that is told that its term is over.
TEST_F(KubernetesLabel, OrDurationThatWasTakenOffOurTermEndsItForGood) {
  ASSERT_EQ(acquire(*second_), "granted");
  const stores::grant lost = held_;
  second_->watch(core::election_index{0}, [](const auto&) {});
  loop_.pass(seconds(1));
  json spec = api_.model().lease("db0.slot-1")["spec"];
  spec["leaseDurationSeconds"] = 30;
  api_.model().put("db0.slot-1", spec);
  api_.show();
  loop_.pass(seconds(1));
  EXPECT_THAT(acquire(*second_), HasSubstr("unknown: the Lease of our lost term is still ours"));
  loop_.pass(seconds(31));
  EXPECT_EQ(acquire(*second_), "granted");
  EXPECT_GT(held_.version, lost.version);
}

}  // namespace
}  // namespace tenure::tests
