// The rules of leasing, with a hand-moved clock.

#include "stores/sqlite/lease_table.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "scene.hpp"

namespace tenure::stores::sqlite {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class LeaseTable : public testing::Test {
 protected:
  std::unique_ptr<lease_table> join(const std::string& identity,
                                    const std::string& boot = "this boot") {
    EXPECT_TRUE(prepare(path_));
    const auto clock = [this] { return now_; };
    beside_.push_back(
        std::make_unique<membership>(path_, membership::times{.boot_id = boot, .clock = clock}));
    auto opened = lease_table::open(path_,
                                    member{.identity = identity,
                                           .session = "session of " + identity,
                                           .boot_id = boot,
                                           .ttl = 10s,
                                           .clock = clock},
                                    *beside_.back(), waiting());
    EXPECT_TRUE(opened) << opened.error();
    return std::move(*opened);
  }
  static patience waiting() { return {tests::soon(), nullptr}; }

  grant hold(lease_table& as, const subject& what, std::uint64_t above = 0) {
    auto outcome = as.acquire(what, core::version{above}, waiting());
    if (auto* failed = std::get_if<unknown>(&outcome)) ADD_FAILURE() << failed->why;
    EXPECT_TRUE(std::holds_alternative<grant>(outcome)) << "not granted";
    return std::holds_alternative<grant>(outcome) ? std::get<grant>(outcome) : grant{};
  }
  bool refused(lease_table& as, const subject& what) {
    return std::holds_alternative<refusal>(as.acquire(what, core::no_version, waiting()));
  }
  /// Renews; `none` if that was done.
  core::loss_reason renew(lease_table& as, const subject& what, core::version version) {
    const held_term item{core::election_index{0}, what, version};
    const auto lost = std::get<renewal>(as.renew(std::span(&item, 1), waiting())).lost;
    return lost.empty() ? core::loss_reason::none : lost[0].why;
  }
  void release(lease_table& as, const subject& what, core::version version, bool clean = true) {
    EXPECT_TRUE(
        std::holds_alternative<released>(as.release(what, version, {.clean = clean}, waiting())));
  }
  core::observation read(lease_table& as, const subject& what) {
    return as.read(std::span(&what, 1), waiting()).value().front().seen;
  }

  tests::temporary_directory directory_;
  std::string path_ = directory_ / "leases.db";
  std::vector<std::unique_ptr<membership>> beside_;  ///< of members that do not appear
  core::time_point now_{1000s};
  subject one_{.election = "db", .slots = 1};
  subject three_{.election = "db", .slots = 3};
};

TEST_F(LeaseTable, FirstGrantEverIsClean) {
  auto a = join("a");
  const grant g = hold(*a, one_);
  EXPECT_EQ(g.version, core::version{1});
  EXPECT_TRUE(g.released_cleanly);
  EXPECT_EQ(g.sequencer, a->cluster_id() + "/db/1");
}

TEST_F(LeaseTable, LeaseIsTakenOverAtItsExpiryAndNotBefore) {
  auto a = join("a");
  auto b = join("b");
  hold(*a, one_);
  now_ += 10s - 1ns;
  EXPECT_TRUE(refused(*b, one_));
  now_ += 1ns;
  const grant g = hold(*b, one_);
  EXPECT_EQ(g.version, core::version{2});
  EXPECT_FALSE(g.released_cleanly);
}

TEST_F(LeaseTable, RefusalSaysWhenToTryAgain) {
  auto a = join("a");
  auto b = join("b");
  hold(*a, one_);
  const auto outcome = b->acquire(one_, core::no_version, waiting());
  EXPECT_EQ(std::get<refusal>(outcome).seen.retry_at, now_ + 10s);
  EXPECT_EQ(read(*b, one_).retry_at, now_ + 10s);
  EXPECT_EQ(read(*b, one_).expires_at, now_ + 10s);
}

TEST_F(LeaseTable, WithASlotFreeThereIsNothingToWaitFor) {
  auto a = join("a");
  hold(*a, three_);
  EXPECT_EQ(read(*a, three_).retry_at, core::never);
  EXPECT_EQ(read(*a, three_).expires_at, now_ + 10s);
}

TEST_F(LeaseTable, RetryOfAGrantAfterAnExpiryIsStillNotClean) {
  auto a = join("a");
  auto b = join("b");
  hold(*a, one_);
  now_ += 10s;
  EXPECT_FALSE(hold(*b, one_).released_cleanly);
  // The answer was lost; the same question must not skip lock_delay.
  EXPECT_FALSE(hold(*b, one_).released_cleanly);
}

TEST_F(LeaseTable, OneUncleanTermDoesNotSpoilThoseAfterIt) {
  auto a = join("a");
  auto b = join("b");
  hold(*a, one_);
  now_ += 10s;
  const grant unclean = hold(*b, one_);
  release(*b, one_, unclean.version);
  EXPECT_TRUE(hold(*a, one_).released_cleanly);
}

TEST_F(LeaseTable, OwnExpiredLeaseIsANewTerm) {
  auto a = join("a");
  const grant first = hold(*a, one_);
  now_ += 10s;
  const grant second = hold(*a, one_);
  EXPECT_GT(second.version, first.version);
  EXPECT_FALSE(second.released_cleanly);
}

TEST_F(LeaseTable, ExpiredLeaseMayBeRenewedWhileNobodyWasGranted) {
  auto a = join("a");
  auto b = join("b");
  const grant g = hold(*a, one_);
  now_ += 11s;
  EXPECT_EQ(renew(*a, one_, g.version), core::loss_reason::none);
  EXPECT_TRUE(refused(*b, one_));
}

TEST_F(LeaseTable, ExpiredLeaseIsLostOnceSomebodyWasGranted) {
  auto a = join("a");
  auto b = join("b");
  const grant g = hold(*a, one_);
  now_ += 11s;
  const grant later = hold(*b, one_);
  EXPECT_EQ(renew(*a, one_, g.version), core::loss_reason::taken_over);
  release(*b, one_, later.version);
  EXPECT_EQ(renew(*a, one_, g.version), core::loss_reason::revoked);
}

TEST_F(LeaseTable, LateReleaseOfATermThatWasTakenOverChangesNothing) {
  auto a = join("a");
  auto b = join("b");
  auto c = join("c");
  const grant g = hold(*a, one_);
  now_ += 11s;
  hold(*b, one_);
  release(*a, one_, g.version);
  now_ += 11s;
  EXPECT_FALSE(hold(*c, one_).released_cleanly) << "b has not released, whatever a did";
}

TEST_F(LeaseTable, ReleaseAfterExpiryIsStillClean) {
  auto a = join("a");
  auto b = join("b");
  const grant g = hold(*a, one_);
  now_ += 11s;
  release(*a, one_, g.version);
  EXPECT_TRUE(hold(*b, one_).released_cleanly) << "a's workload is known to be dead";
}

TEST_F(LeaseTable, EachOfSeveralExpiredHoldersIsWaitedFor) {
  auto a = join("a");
  auto b = join("b");
  auto c = join("c");
  hold(*a, three_);
  hold(*b, three_);
  now_ += 10s;
  auto d = join("d");
  auto e = join("e");
  EXPECT_FALSE(hold(*c, three_).released_cleanly) << "in place of a";
  EXPECT_FALSE(hold(*d, three_).released_cleanly) << "in place of b";
  EXPECT_TRUE(hold(*e, three_).released_cleanly) << "the third slot was never used";
}

TEST_F(LeaseTable, HoldersOfSlotsExpireOneByOne) {
  const subject two{.election = "db", .slots = 2};
  auto a = join("a");
  auto b = join("b");
  auto c = join("c");
  hold(*a, two);
  now_ += 5s;
  const grant of_b = hold(*b, two);
  now_ += 5s;
  EXPECT_THAT(read(*c, two).holders, ElementsAre(tests::other("b", of_b.version, 1)));
  EXPECT_FALSE(hold(*c, two).released_cleanly);
  EXPECT_EQ(read(*c, two).retry_at, now_ + 5s) << "b is the next to expire";
}

/// Its holder has one slot, or none that anybody knows: it counts as 0.
TEST_F(LeaseTable, AFileOfAnEarlierAgentGetsItsSlots) {
  const subject two{.election = "db", .slots = 2};
  hold(*join("a"), two);
  const auto as_before = connection::open(path_, {});
  ASSERT_TRUE(as_before);
  (*as_before)->run("ALTER TABLE lease DROP COLUMN slot");
  ASSERT_FALSE((*as_before)->failed()) << (*as_before)->failure();
  auto b = join("b");
  EXPECT_EQ(hold(*b, two).slot, 1U);
  EXPECT_EQ(read(*b, two).holders.front().slot, 0U);
}

TEST_F(LeaseTable, HolderOfAnotherBootIsGoneWithItsKernel) {
  auto a = join("a", "an earlier boot");
  auto b = join("b");
  const grant first = hold(*a, one_);
  EXPECT_THAT(read(*b, one_).holders, IsEmpty());
  const grant second = hold(*b, one_);
  EXPECT_GT(second.version, first.version);
  EXPECT_FALSE(second.released_cleanly);
  EXPECT_NE(renew(*a, one_, first.version), core::loss_reason::none);
}

TEST_F(LeaseTable, FileThatKnowsLessThanTheCallerDoesNotCallAGrantClean) {
  auto a = join("a");
  const grant g = hold(*a, one_, 41);
  EXPECT_EQ(g.version, core::version{42});
  EXPECT_FALSE(g.released_cleanly);
}

TEST_F(LeaseTable, EachFreeSlotIsWaitedForIfTheFileKnowsLessThanTheCaller) {
  const subject two{.election = "db", .slots = 2};
  auto a = join("a");
  auto b = join("b");
  EXPECT_FALSE(hold(*a, two, 41).released_cleanly);
  EXPECT_FALSE(hold(*b, two).released_cleanly) << "whoever held before may have held this slot";
}

TEST_F(LeaseTable, LastVersionIsNotWrappedAround) {
  auto a = join("a");
  const auto outcome = a->acquire(one_, core::version{~0ull}, waiting());
  ASSERT_TRUE(std::holds_alternative<unknown>(outcome));
  EXPECT_THAT(std::get<unknown>(outcome).why, testing::HasSubstr("last there is"));
}

TEST_F(LeaseTable, VersionsSurviveTheEndOfAllAgents) {
  {
    auto a = join("a");
    const grant g = hold(*a, one_);
    release(*a, one_, g.version);
  }
  auto b = join("b");
  EXPECT_EQ(hold(*b, one_).version, core::version{2});
}

TEST_F(LeaseTable, FirstWhoCampaignsSaysForHowManyTheElectionIs) {
  auto a = join("a");
  auto b = join("b");
  EXPECT_EQ(read(*a, one_).agreed.slots, 0u);
  hold(*a, one_);
  EXPECT_TRUE(refused(*b, three_));
  EXPECT_EQ(read(*b, three_).agreed.slots, 1u);
  EXPECT_EQ(read(*b, three_).retry_at, now_ + 10s) << "there is no room, whatever b thinks";
}

TEST_F(LeaseTable, OtherSlotsAreThoseOfTheFirstToHoldWhileNobodyDoes) {
  const subject two{.election = "db", .slots = 2};
  auto a = join("a");
  auto b = join("b");
  hold(*a, two);
  const grant second = hold(*b, two);
  release(*b, two, second.version);
  EXPECT_TRUE(refused(*b, one_)) << "a holds";
  EXPECT_EQ(read(*a, two).agreed.slots, 2u);
  now_ += 10s;
  EXPECT_TRUE(read(*b, one_).holders.empty());
  EXPECT_FALSE(hold(*b, one_).released_cleanly) << "a may still be stopping";
  EXPECT_EQ(read(*b, one_).agreed.slots, 1u);
  EXPECT_TRUE(refused(*a, two));
}

}  // namespace
}  // namespace tenure::stores::sqlite
