// The transactions of elections, and what is read from the replies to them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stores/etcd/requests.hpp"

namespace tenure::stores::etcd {
namespace {

constexpr const char* header =
    R"("header":{"cluster_id":"1","member_id":"2","revision":"9","raft_term":"2"})";

std::string reply(const std::string& rest) {
  return "{" + std::string(header) + "," + rest + "}";
}

TEST(EtcdTransactions, ACampaignComesOnlyIfNobodyHasComeSinceTheNewestThatIsKnown) {
  const transaction t = campaign_transaction({.name = "db", .slots = 2}, 0xabc, "me",
                                             {.newest = 41, .agreed = 7, .said = {.slots = 2}});
  ASSERT_EQ(t.when.size(), 2U);
  EXPECT_EQ(t.when[0].key, "db/");
  EXPECT_EQ(t.when[0].end, "db0");
  EXPECT_EQ(t.when[0].what, compare::field::create_revision);
  EXPECT_EQ(t.when[0].is, compare::relation::less);
  EXPECT_EQ(t.when[0].number, 42U);
  const auto& written = std::get<put>(t.then.at(0));
  EXPECT_EQ(written.key, "db/abc");
  EXPECT_EQ(written.value, "me");
  EXPECT_EQ(written.lease, 0xabc);
  EXPECT_TRUE(std::holds_alternative<range>(t.then.at(1)));
  EXPECT_TRUE(std::holds_alternative<range>(t.otherwise.at(0)));
}

TEST(EtcdTransactions, ACampaignIsForTheAgreementThatWasSeenOrWritesIt) {
  const settings::election db{.name = "db", .slots = 2};
  const transaction agreed =
      campaign_transaction(db, 0xabc, "me", {.newest = 41, .agreed = 7, .said = {.slots = 2}});
  EXPECT_EQ(agreed.when[1].key, "db.tenure.agreement");
  EXPECT_EQ(agreed.when[1].what, compare::field::mod_revision);
  EXPECT_EQ(agreed.when[1].is, compare::relation::equal);
  EXPECT_EQ(agreed.when[1].number, 7U);
  EXPECT_EQ(agreed.then.size(), 2U);
  const transaction first = campaign_transaction(db, 0xabc, "me", {});
  EXPECT_EQ(first.when[1].number, 0U) << "nobody has written one meanwhile";
  EXPECT_EQ(std::get<put>(first.then.at(0)).key, "db.tenure.agreement");
  EXPECT_EQ(std::get<put>(first.then.at(0)).value, "slots=2");
  EXPECT_EQ(std::get<put>(first.then.at(0)).lease, 0) << "it outlives every holder";
  const core::agreement other{
      .slots = 1, .versions_from = core::version{5}, .accepted_unix_ms = 1234};
  const transaction changed =
      campaign_transaction(db, 0xabc, "me", {.newest = 0, .agreed = 7, .said = other});
  EXPECT_EQ(changed.when[0].number, 1U) << "nobody contends";
  EXPECT_EQ(std::get<put>(changed.then.at(0)).value,
            "slots=2 versions_from=5 accepted_unix_ms=1234");
}

TEST(EtcdTransactions, AnAgreementIsWrittenIfNobodyHasComeSince) {
  const transaction t =
      agreement_transaction("db", {.slots = 3}, {.newest = 41, .agreed = 7, .said = {.slots = 2}});
  EXPECT_EQ(t.when[0].number, 42U);
  EXPECT_EQ(t.when[1].number, 7U);
  EXPECT_EQ(std::get<put>(t.then.at(0)).value, "slots=3");
  EXPECT_TRUE(std::holds_alternative<range>(t.otherwise.at(0)));
}

TEST(EtcdTransactions, AReleaseIsOfItsTermAndSaysSoInTheSameStep) {
  const transaction clean = release_transaction("db", "db/abc", core::version{42}, "42 clean");
  ASSERT_EQ(clean.when.size(), 1U);
  EXPECT_EQ(clean.when[0].key, "db/abc");
  EXPECT_EQ(clean.when[0].is, compare::relation::equal);
  EXPECT_EQ(clean.when[0].number, 42U);
  EXPECT_EQ(std::get<erase>(clean.then.at(0)).key, "db/abc");
  EXPECT_EQ(std::get<put>(clean.then.at(1)).key, "db.tenure");
  EXPECT_EQ(std::get<put>(clean.then.at(1)).value, "42 clean");
  EXPECT_EQ(std::get<put>(clean.then.at(1)).lease, 0);
  EXPECT_EQ(release_transaction("db", "db/abc", core::version{42}, "").then.size(), 1U);
}

TEST(EtcdTransactions, ReadsAreTakenOutOfWhateverIsBesideThem) {
  const auto found = reads_in(
      reply(
          R"("succeeded":true,"responses":[{"response_put":{}},{"response_range":{"header":{"revision":"9"}}}])"),
      1);
  ASSERT_TRUE(found) << found.error().why;
  EXPECT_TRUE(found->succeeded);
  EXPECT_EQ(found->header.revision, 9U);
  EXPECT_THAT(found->values, testing::ElementsAre(testing::IsEmpty()));
}

TEST(EtcdTransactions, MoreOrFewerReadsThanAskedForAreMalformed) {
  const std::string one = reply(R"("responses":[{"response_range":{"header":{"revision":"9"}}}])");
  EXPECT_TRUE(reads_in(one, 1));
  EXPECT_FALSE(reads_in(one, 0));
  EXPECT_FALSE(reads_in(one, 2));
  EXPECT_FALSE(reads_in("[]", 1));
}

}  // namespace
}  // namespace tenure::stores::etcd
