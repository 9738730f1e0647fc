// Who holds a lease, and under which version.

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "store_under_test.hpp"

namespace tenure::tests {
namespace {

using stores::grant;
using stores::refusal;
using stores::released;
using stores::renewal;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_P(StoreContract, FirstCandidateIsGrantedForTheTtlFromBeforeItsCall) {
  auto a = join(settings("a"));
  const core::time_point before = base::boot_now();
  const grant g = a->hold();
  EXPECT_GT(g.version, core::no_version);
  EXPECT_EQ(g.ttl, std::chrono::seconds(10));
  EXPECT_GE(g.sent_at, before);
  EXPECT_LE(g.sent_at, base::boot_now());
  EXPECT_FALSE(g.sequencer.empty());
}

/// So anybody can check it by an agent of its own.
TEST_P(StoreContract, TheSequencerOfAGrantIsShownToAllWhoLook) {
  for (const std::uint32_t slots : {1U, 2U}) {
    SCOPED_TRACE(slots);
    const auto with = [&](const char* identity) {
      stores::setup out = settings(identity, std::chrono::seconds(10), slots);
      out.elections.front().name += "-of-" + std::to_string(slots);
      return out;
    };
    auto a = join(with("a"));
    auto b = join(with("b"));
    const auto watched = b->watch();
    const grant first = a->hold();
    const auto shows = [&](const grant& what) {
      return [&](const core::observation& seen) {
        return !seen.holders.empty() && seen.holders.front().version == what.version;
      };
    };
    EXPECT_EQ(a->read().holders.front().sequencer, first.sequencer);
    EXPECT_EQ(b->read().holders.front().sequencer, first.sequencer);
    ASSERT_TRUE(loop_.run_until([&] { return watched->shows(shows(first)); }));
    EXPECT_EQ(watched->seen.back().holders.front().sequencer, first.sequencer);
    a->renew({{.which = core::election_index{0}, .version = first.version}});
    EXPECT_EQ(b->read().holders.front().sequencer, first.sequencer)
        << "it lasts as long as the term";
  }
}

TEST_P(StoreContract, SecondCandidateIsRefusedAndToldWhoHolds) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const grant g = a->hold();
  const auto outcome = b->acquire();
  ASSERT_TRUE(std::holds_alternative<refusal>(outcome));
  const core::observation seen = std::get<refusal>(outcome).seen;
  EXPECT_THAT(seen.holders, ElementsAre(other("a", g.version)));
  EXPECT_GE(seen.as_of, g.version);
}

TEST_P(StoreContract, AcquireRepeatedByItsSessionIsTheSameTermAndBeganAsItBegan) {
  auto a = join(settings("a"));
  const grant first = a->hold();
  const grant again = a->hold(0, core::number(first.version));
  EXPECT_EQ(again.version, first.version);
  EXPECT_EQ(again.sequencer, first.sequencer);
  EXPECT_EQ(again.released_cleanly, first.released_cleanly);
  EXPECT_GT(again.sent_at, first.sent_at) << "it is renewed as well";
}

TEST_P(StoreContract, RenewalCountsFromItsOwnSend) {
  auto a = join(settings("a"));
  const grant g = a->hold();
  const core::time_point before = base::boot_now();
  const auto outcome = a->renew(only(g.version));
  ASSERT_TRUE(std::holds_alternative<renewal>(outcome));
  EXPECT_THAT(std::get<renewal>(outcome).lost, IsEmpty());
  EXPECT_GE(std::get<renewal>(outcome).sent_at, before);
  EXPECT_EQ(std::get<renewal>(outcome).ttl, std::chrono::seconds(10));
}

TEST_P(StoreContract, RenewalOfATermThatIsOverIsLostNotUnknown) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const grant g = a->hold();
  store_->delete_lock("db0");
  auto outcome = a->renew(only(g.version));
  ASSERT_TRUE(std::holds_alternative<renewal>(outcome));
  ASSERT_EQ(std::get<renewal>(outcome).lost.size(), 1u);
  EXPECT_EQ(std::get<renewal>(outcome).lost[0].why, core::loss_reason::revoked);

  b->hold();
  // That it is gone is read; who has it since is known by the watch.
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until(
      [&] { return seen->shows([](const core::observation& o) { return !o.holders.empty(); }); }));
  outcome = a->renew(only(g.version));
  ASSERT_EQ(std::get<renewal>(outcome).lost.size(), 1u);
  EXPECT_EQ(std::get<renewal>(outcome).lost[0].why, core::loss_reason::taken_over);
}

TEST_P(StoreContract, ReleaseLetsTheNextOneInWithALargerVersion) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const grant first = a->hold();
  ASSERT_TRUE(std::holds_alternative<released>(a->release(0, first.version)));
  EXPECT_THAT(b->read().holders, IsEmpty());
  const grant second = b->hold();
  EXPECT_GT(second.version, first.version);
  EXPECT_NE(second.sequencer, first.sequencer);
  EXPECT_TRUE(second.released_cleanly);
}

TEST_P(StoreContract, ReleaseThatIsNotCleanMakesTheNextHolderWait) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const grant first = a->hold();
  ASSERT_TRUE(std::holds_alternative<released>(a->release(0, first.version, false)));
  const grant second = b->hold();
  EXPECT_GT(second.version, first.version);
  EXPECT_FALSE(second.released_cleanly) << "what ran before a may be dying still";
}

TEST_P(StoreContract, ReleaseOfAnEarlierTermLeavesTheNewOneAlone) {
  auto a = join(settings("a"));
  const grant first = a->hold();
  ASSERT_TRUE(std::holds_alternative<released>(a->release(0, first.version)));
  const grant second = a->hold();
  EXPECT_TRUE(std::holds_alternative<released>(a->release(0, first.version)));
  EXPECT_THAT(a->read().holders, ElementsAre(own("a", second.version)));
}

TEST_P(StoreContract, ReleaseWithoutAVersionGivesUpWhateverTheSessionHolds) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  a->hold();
  EXPECT_TRUE(std::holds_alternative<released>(b->release())) << "nothing of b's: done already";
  EXPECT_EQ(a->read().holders.size(), 1u) << "and nothing of a's is touched";
  EXPECT_TRUE(std::holds_alternative<released>(a->release()));
  EXPECT_THAT(a->read().holders, IsEmpty());
}

TEST_P(StoreContract, ReleaseWithoutAVersionGivesUpWhatTheStoreShowsAndNotWhatWasHeldBefore) {
  auto a = join(settings("a"));
  const grant first = a->hold();
  store_->delete_lock("db0");
  // As of an acquire of a's own whose reply was lost: a does not know of this term.
  auto same_session = join(settings("a"));
  const grant second = same_session->hold();
  ASSERT_GT(second.version, first.version);
  EXPECT_TRUE(std::holds_alternative<released>(a->release()));
  EXPECT_THAT(a->read().holders, IsEmpty());
}

TEST_P(StoreContract, VersionGrowsEvenAfterTheLockObjectWasDeleted) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const grant first = a->hold();
  store_->delete_lock("db0");
  const grant second = b->hold();
  EXPECT_GT(second.version, first.version);
  EXPECT_FALSE(second.released_cleanly) << "nobody knows that a's workload is dead";
}

TEST_P(StoreOfOurVersions, VersionIsLargerThanWhatTheCallerHasSeen) {
  auto a = join(settings("a"));
  EXPECT_GT(core::number(a->hold(0, 1'000'000).version), 1'000'000u);
}

TEST_P(StoreContract, ExpiredLeaseGoesToAnotherOnlyAfterSendPlusTtlAndNotAsReleased) {
  const core::duration ttl = store_->shortest_ttl();
  auto a = join(settings("a", ttl));
  auto b = join(settings("b", ttl));
  const grant first = a->hold();
  a->close();
  auto outcome = b->acquire();
  ASSERT_TRUE(std::holds_alternative<refusal>(outcome));
  // As the agent does it: told by the store when to ask again, or by its watch.
  const auto watched = b->watch();
  const auto due = [&] {
    return watched->shows([](const core::observation& seen) {
      return seen.holders.empty() || base::boot_now() >= seen.retry_at;
    });
  };
  const core::time_point deadline = soon();
  while (!std::holds_alternative<grant>(outcome) && base::boot_now() < deadline) {
    if (due()) outcome = b->acquire();
    loop_.context().restart();
    loop_.context().run_one_for(std::chrono::milliseconds(5));
  }
  ASSERT_TRUE(std::holds_alternative<grant>(outcome));
  const grant second = std::get<grant>(outcome);
  EXPECT_GE(base::boot_now(), first.sent_at + first.ttl);
  EXPECT_GT(second.version, first.version);
  EXPECT_FALSE(second.released_cleanly);
}

TEST_P(StoreContract, AsManyHoldAsThereAreSlotsAndEachHasAVersionOfItsOwn) {
  auto a = join(settings("a", std::chrono::seconds(10), 2));
  auto b = join(settings("b", std::chrono::seconds(10), 2));
  auto c = join(settings("c", std::chrono::seconds(10), 2));
  const grant first = a->hold();
  const grant second = b->hold();
  EXPECT_GT(second.version, first.version);
  const auto refused = c->acquire();
  ASSERT_TRUE(std::holds_alternative<refusal>(refused));
  EXPECT_THAT(std::get<refusal>(refused).seen.holders,
              ElementsAre(other("a", first.version), other("b", second.version, 1)));
  ASSERT_TRUE(std::holds_alternative<released>(a->release(0, first.version)));
  const grant third = c->hold();
  EXPECT_GT(third.version, second.version);
  EXPECT_TRUE(third.released_cleanly);
}

TEST_P(StoreContract, OfMoreMembersThanSlotsAsManyHoldAndTheNextOneFollowsARelease) {
  constexpr std::uint32_t waiting = 2;
  for (const std::uint32_t slots : {1U, 2U, 5U}) {
    std::vector<std::unique_ptr<member>> all;
    stores::setup with = settings("-", std::chrono::seconds(10), slots);
    with.elections.front().name = "db-" + std::to_string(slots);
    for (std::uint32_t i = 0; i < slots + waiting; ++i) {
      with.identity = "m" + std::to_string(i);
      with.session = "session of " + with.identity;
      all.push_back(join(with));
    }
    std::vector<core::version> versions;
    for (std::uint32_t i = 0; i < slots; ++i) versions.push_back(all[i]->hold().version);
    EXPECT_TRUE(std::ranges::is_sorted(versions, std::ranges::less_equal{})) << "each its own";
    for (std::uint32_t i = slots; i < all.size(); ++i) {
      EXPECT_TRUE(std::holds_alternative<refusal>(all[i]->acquire())) << slots;
    }
    EXPECT_EQ(all.back()->read().holders.size(), slots);
    const std::uint32_t leaver = slots / 2;
    ASSERT_TRUE(std::holds_alternative<released>(all[leaver]->release(0, versions[leaver])));
    EXPECT_GT(all[slots]->hold().version, versions.back());
    EXPECT_TRUE(std::holds_alternative<refusal>(all.back()->acquire())) << slots;
    for (std::uint32_t i = 0; i < slots; ++i) {
      if (i == leaver) continue;
      const auto renewed = all[i]->renew(only(versions[i]));
      ASSERT_TRUE(std::holds_alternative<renewal>(renewed));
      EXPECT_THAT(std::get<renewal>(renewed).lost, IsEmpty()) << slots;
    }
  }
}

TEST_P(StoreContract, EachHolderHasTheSmallestFreeSlotForItsTerm) {
  const auto with = [this](const char* name) {
    return settings(name, std::chrono::seconds(10), 3);
  };
  auto a = join(with("a"));
  auto b = join(with("b"));
  auto c = join(with("c"));
  auto d = join(with("d"));
  const grant first = a->hold();
  const grant second = b->hold();
  const grant third = c->hold();
  EXPECT_THAT((std::vector{first.slot, second.slot, third.slot}), ElementsAre(0, 1, 2));
  EXPECT_THAT(d->read().holders,
              ElementsAre(other("a", first.version), other("b", second.version, 1),
                          other("c", third.version, 2)));
  ASSERT_TRUE(std::holds_alternative<released>(b->release(0, second.version)));
  auto shown = d->watch();
  const grant fourth = d->hold();
  EXPECT_EQ(fourth.slot, 1U);
  const auto shows_slot = [&](const core::observation& o) {
    return testing::Value(o.holders, testing::Contains(own("d", fourth.version, 1)));
  };
  EXPECT_TRUE(loop_.run_until([&] { return shown->shows(shows_slot); }));
  EXPECT_EQ(c->hold().slot, 2U) << "asked for again, also behind a change of the others";
  ASSERT_TRUE(std::holds_alternative<released>(a->release(0, first.version)));
  EXPECT_EQ(c->hold().slot, 2U) << "it stays what it was for the whole term";
}

TEST_P(StoreContract, TheNextRunOfAnAgentGoesOnInItsSlot) {
  auto a = join(settings("a", std::chrono::seconds(10), 2));
  auto b = join(settings("b", std::chrono::seconds(10), 2));
  const grant of_a = a->hold();
  const grant before = b->hold();
  b->close();
  ASSERT_TRUE(std::holds_alternative<released>(a->release(0, of_a.version)));
  auto again = join(settings("b", std::chrono::seconds(10), 2));
  const grant now = again->hold();
  EXPECT_EQ(now.version, before.version);
  EXPECT_EQ(now.slot, 1U);
  EXPECT_EQ(a->hold().slot, 0U);
}

}  // namespace
}  // namespace tenure::tests
