#include "stores/etcd/layout.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tenure::stores::etcd {
namespace {

TEST(EtcdLayout, AContendersKeyIsThatOfEtcdsOwnClient) {
  EXPECT_EQ(contender_key("team/db", 0x694d77aa1b2c3d4e), "team/db/694d77aa1b2c3d4e");
}

TEST(EtcdLayout, ASlotIsInTheKeyAndLeasesAreFoundBesideIt) {
  EXPECT_EQ(contender_key("db", 0x1f, 12), "db/1f.12");
  EXPECT_EQ(slot_in("db/1f.12"), 12U);
  lease_ids ids("a session", 1);
  EXPECT_TRUE(ids.made(contender_key("db", ids.next(), 3)));
  // Of other programs, whatever their names say.
  for (const char* other : {"db/1f", "db/1f.", "db/1f.x", "db/1f.-1", "db/host.3", "db/.3",
                            "db/1f.4294967296", "a.3/1f"}) {
    EXPECT_EQ(slot_in(other), 0U) << other;
  }
}

TEST(EtcdLayout, OneRangeHoldsTheRecordAndAllContendersAndNoContenderOfAnother) {
  const key_range range = range_of("db");
  const auto inside = [&](const std::string& key) { return range.begin <= key && key < range.end; };
  EXPECT_TRUE(inside(release_record("db")));
  EXPECT_TRUE(inside(contender_key("db", 1)));
  EXPECT_TRUE(inside(contender_key("db", INT64_MAX)));
  EXPECT_FALSE(inside(contender_key("db0", 1)));
  EXPECT_FALSE(inside(contender_key("db-1", 1)));
  EXPECT_FALSE(inside("db"));
}

TEST(EtcdLayout, TheReleaseRecordIsNoContender) {
  EXPECT_FALSE(release_record("db").starts_with(prefix_of("db")));
}

TEST(EtcdLayout, LeaseIdsArePositiveDifferentAndOfTheirSession) {
  lease_ids ids("a session", 0xffffffffffffffff);
  const lease_ids of_another("another session", 0);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t id = ids.next();
    EXPECT_GT(id, 0);
    EXPECT_TRUE(seen.insert(id).second);
    EXPECT_TRUE(ids.made(contender_key("db", id)));
    EXPECT_TRUE(ids.made(member_key("team/db", id)));
    EXPECT_FALSE(of_another.made(contender_key("db", id)));
  }
}

TEST(EtcdLayout, AnotherLifeOfTheAgentKnowsItsLeasesAndTakesOthers) {
  lease_ids first("a session", 1);
  lease_ids second("a session", 77);
  const std::int64_t left = first.next();
  EXPECT_TRUE(second.made(contender_key("db", left)));
  EXPECT_NE(second.next(), left);
}

TEST(EtcdLayout, ALifeOfTheAgentKnowsWhatItHasGivenItself) {
  for (const std::uint64_t salt : {0ULL, 1ULL, 0xfffffeULL, 0xffffffffffffffffULL}) {
    lease_ids ids("a session", salt);
    lease_ids earlier("a session", salt - 5);
    const std::int64_t left = earlier.next();
    const std::int64_t one = ids.next();
    EXPECT_TRUE(ids.gave(one)) << salt;
    EXPECT_FALSE(ids.gave(left)) << salt;
    EXPECT_FALSE(ids.gave(0)) << salt;
    const std::int64_t two = ids.next();
    EXPECT_TRUE(ids.gave(one)) << salt;
    EXPECT_TRUE(ids.gave(two)) << salt;
    EXPECT_FALSE(lease_ids("another session", salt).gave(one)) << salt;
    lease_ids later("a session", salt);
    EXPECT_FALSE(later.gave(one)) << salt;
  }
}

TEST(EtcdLayout, KeysOfOthersAreNeverOurs) {
  const lease_ids ids("a session", 1);
  for (const char* other : {"db/", "db/0", "db/-1", "db/1", "db", "", "db/8000000000000000",
                            "db/ffffffffffffffff", "db/00000000000000000000000001", "db/x"}) {
    EXPECT_FALSE(ids.made(other)) << other;
  }
}

TEST(EtcdLayout, TheAgreementIsNoContenderAndNoMember) {
  EXPECT_FALSE(agreement_key("db").starts_with(prefix_of("db")));
  EXPECT_FALSE(agreement_key("db").starts_with(member_prefix("db")));
  EXPECT_LT(range_of("db").begin, agreement_key("db"));
  EXPECT_LT(agreement_key("db"), range_of("db").end);
}

}  // namespace
}  // namespace tenure::stores::etcd
