#include "store.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "unit/calm_world.hpp"

namespace tenure::sim {
namespace {

using namespace std::chrono_literals;

/// The store models are what core is judged against, so they are held to the store's contract.
struct Store : testing::TestWithParam<store_family> {
  calm_world world{calm_mix(GetParam())};
  network net{world.at};
  std::unique_ptr<store> kept = GetParam() == store_family::record
                                    ? make_record_store(world.at, net)
                                    : make_expiring_store(world.at, net);
  std::uint64_t mark = 0;

  message request(mail kind, std::uint16_t who) const {
    message m;
    m.kind = kind;
    m.identity = who;
    m.pod = static_cast<std::uint8_t>(who);
    m.ttl = world.drawn.when.ttl;
    m.mark = mark;
    return m;
  }

  /// The answer to `m`, which the store is asked at once.
  message ask(const message& m) {
    kept->receive(m);
    for (const message& answer : world.answers()) {
      if (answer.pod == m.pod) {
        if (GetParam() == store_family::record && answer.mark != 0) mark = answer.mark;
        return answer;
      }
    }
    ADD_FAILURE() << "no answer";
    return {};
  }

  message acquire(std::uint16_t who) {
    if (GetParam() == store_family::record) ask(request(mail::read, who));
    return ask(request(mail::acquire, who));
  }

  message release(std::uint16_t who, core::version version, bool clean = true) {
    message m = request(mail::release, who);
    m.version = version;
    m.clean = clean;
    return ask(m);
  }

  message renew(std::uint16_t who, core::version version) {
    message m = request(mail::renew, who);
    m.count = 1;
    m.items[0] = {.version = version};
    return ask(m);
  }
};

TEST_P(Store, VersionsGrowOverReleases) {
  const message first = acquire(0);
  ASSERT_EQ(first.kind, mail::granted);
  release(0, first.version);
  const message second = acquire(1);
  ASSERT_EQ(second.kind, mail::granted);
  EXPECT_GT(second.version, first.version);
}

TEST_P(Store, VersionsGrowOverTheDeletionOfTheKey) {
  const message first = acquire(0);
  ASSERT_TRUE(kept->delete_key(0));
  EXPECT_GT(acquire(1).version, first.version);
}

TEST_P(Store, AcquireOfTheHolderIsAnsweredWithItsTerm) {
  const message first = acquire(0);
  const message again = acquire(0);
  EXPECT_EQ(again.kind, mail::granted);
  EXPECT_EQ(again.version, first.version);
}

TEST_P(Store, ReleaseOfAnotherTermReleasesNothing) {
  const message first = acquire(0);
  EXPECT_EQ(release(0, core::version{core::number(first.version) + 1}).kind, mail::released);
  EXPECT_TRUE(kept->holds(0, first.version));
  EXPECT_EQ(release(1, first.version).kind, mail::released);
  EXPECT_TRUE(kept->holds(0, first.version));
}

/// Only a holder whose workload is known to be dead spares the next one its lock_delay.
TEST_P(Store, OnlyACleanReleaseIsPassedOnAsClean) {
  release(0, acquire(0).version, false);
  const message after_unclean = acquire(1);
  EXPECT_FALSE(after_unclean.clean);
  release(1, after_unclean.version, true);
  EXPECT_TRUE(acquire(0).clean);
  kept->delete_key(0);
  EXPECT_FALSE(acquire(1).clean);
}

TEST_P(Store, RestoreMovesVersionsBackAndBumpBeyondAll) {
  core::version last{};
  for (int i = 0; i < 30; ++i) {
    last = acquire(0).version;
    release(0, last);
  }
  kept->restore();
  EXPECT_LE(acquire(0).version, last);
  kept->bump();
  kept->delete_key(0);
  EXPECT_GT(acquire(1).version, last);
}

TEST_P(Store, RenewalOfARemovedTermIsLost) {
  const message granted = acquire(0);
  EXPECT_FALSE(renew(0, granted.version).items[0].lost);
  kept->revoke_session(0);
  EXPECT_TRUE(renew(0, granted.version).items[0].lost);
}

INSTANTIATE_TEST_SUITE_P(All, Store, testing::Values(store_family::expiring, store_family::record),
                         [](const auto& family) {
                           return family.param == store_family::record ? "record" : "expiring";
                         });

struct ExpiringStore : Store {};

TEST_P(ExpiringStore, SlotIsFreeOnceTheTtlIsOverAndNotBefore) {
  const world_time granted_at = world.at.now;
  acquire(0);
  world.at.now = granted_at + world.drawn.when.ttl - 1ms;
  kept->expire();
  EXPECT_EQ(acquire(1).kind, mail::refused);
  world.at.now = granted_at + world.drawn.when.ttl;
  kept->expire();
  EXPECT_EQ(acquire(1).kind, mail::granted);
}

TEST_P(ExpiringStore, RenewalKeepsTheTerm) {
  const message granted = acquire(0);
  world.at.now += world.drawn.when.ttl / 2;
  renew(0, granted.version);
  world.at.now += world.drawn.when.ttl / 2 + 1s;
  kept->expire();
  EXPECT_TRUE(kept->holds(0, granted.version));
}

/// etcd gives every lease its full TTL when a new leader takes over.
TEST_P(ExpiringStore, FailOverExtendsLeases) {
  const message granted = acquire(0);
  world.at.now += world.drawn.when.ttl - 1s;
  kept->restarted(true);
  world.at.now += world.drawn.when.ttl - 1s;
  kept->expire();
  EXPECT_TRUE(kept->holds(0, granted.version));
}

TEST_P(ExpiringStore, LockDelayHoldsUpTheNextGrantAfterARemoval) {
  world.drawn.store_lock_delay = 5s;
  acquire(0);
  kept->delete_key(0);
  EXPECT_EQ(acquire(1).kind, mail::refused);
  world.at.now += 6s;
  EXPECT_EQ(acquire(1).kind, mail::granted);
}

INSTANTIATE_TEST_SUITE_P(All, ExpiringStore, testing::Values(store_family::expiring));

struct RecordStore : Store {};

/// Nobody but a candidate that has watched it for the TTL may take a record over.
TEST_P(RecordStore, RecordDoesNotExpireByItself) {
  const message granted = acquire(0);
  world.at.now += 100 * world.drawn.when.ttl;
  kept->expire();
  EXPECT_TRUE(kept->holds(0, granted.version));
}

TEST_P(RecordStore, TakeOverIsRefusedIfTheRecordHasChangedSince) {
  const message granted = acquire(0);
  const std::uint64_t seen = ask(request(mail::read, 1)).mark;
  renew(0, granted.version);
  mark = seen;
  EXPECT_EQ(ask(request(mail::acquire, 1)).kind, mail::refused);
  EXPECT_EQ(acquire(1).kind, mail::granted);
}

INSTANTIATE_TEST_SUITE_P(All, RecordStore, testing::Values(store_family::record));

}  // namespace
}  // namespace tenure::sim
