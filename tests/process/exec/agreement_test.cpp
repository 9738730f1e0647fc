#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <csignal>
#include <filesystem>
#include <memory>

#include "base/unique_fd.hpp"
#include "placed_members.hpp"

/// Members with other settings than the rest, and how an operator resolves that.
namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* election = "/v1/elections/test";

class Agreement : public PlacedMembers {
 protected:
  std::unique_ptr<member> join(const std::string& identity,
                               const std::vector<std::string>& more = {}) {
    return member_of_store({.identity = identity, .ttl = "10m", .more = more});
  }
};

INSTANTIATE_TEST_SUITE_P(On, Agreement, testing::ValuesIn(places()),
                         [](const auto& one) { return one.param.name; });

TEST_P(Agreement, MemberWithOtherSlotsSaysBothNumbersAndCampaignsOnceTheElectionHasIts) {
  auto a = join("a");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  auto b = join("b", {"--slots", "2"});
  ASSERT_TRUE(eventually([&] { return b->process().said("does not campaign: "); }))
      << b->process().err();
  EXPECT_THAT(b->process().err(),
              AllOf(HasSubstr("set up for 2 slots"), HasSubstr("has 1 in the store"),
                    HasSubstr("tenure set test --slots 2")));
  EXPECT_THAT(b->get(election), HasSubstr(R"("not_campaigning":{"reason":"other_slots")"));

  const auto refused = run({tenure_binary(), "set", "test", "--api", a->api()}, in_);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("nothing to change"));
  EXPECT_TRUE(a->is_active());

  const auto denied = run({tenure_binary(), "set", "test", "--slots", "2", "--api", a->api()}, in_);
  EXPECT_EQ(denied.status, 2) << "no token, over TCP";
  const auto done = run({tenure_binary(), "set", "test", "--slots", "2"}, in_);
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("test has 2 slots in the store now"));
  EXPECT_TRUE(runs_as(in_, "b")) << b->process().err();
  EXPECT_TRUE(a->is_active()) << "a holder keeps its term";
  finished again;
  EXPECT_TRUE(eventually([&] {
    again = run({tenure_binary(), "set", "test", "--slots", "2"}, in_);
    return again.out == "test has 2 slots in the store already; nothing has changed\n";
  })) << again.out
      << again.err;
  EXPECT_EQ(again.status, 0) << again.err;

  const auto fewer = run({tenure_binary(), "set", "test", "--slots", "1"}, in_);
  EXPECT_EQ(fewer.status, 2) << fewer.out;
  EXPECT_THAT(fewer.err, AllOf(HasSubstr("2 hold election \"test\" now"),
                               HasSubstr("; restart members with slots 1 first, standbys before "
                                         "holders, until no more than 1 holds it")));

  // As the message says: a member that is set up for fewer does not take the slot again.
  b->process().send(SIGTERM);
  EXPECT_TRUE(b->process().wait());
  b = join("b");
  EXPECT_TRUE(eventually([&] { return b->process().said("it is set up for 1 slot,"); }))
      << b->process().err();
  const auto now = run({tenure_binary(), "set", "test", "--slots", "1"}, in_);
  EXPECT_EQ(now.status, 0) << now.err;
  EXPECT_TRUE(eventually([&] { return b->get(election).contains(R"("not_campaigning":null)"); }))
      << b->get(election);
  EXPECT_TRUE(a->is_active());
  EXPECT_FALSE(b->is_active());
}

TEST_P(Agreement, LogTellsWhatWasChangedAndWhatWasRefused) {
  auto a = join("a", {"--slots", "2"});
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  auto b = join("b", {"--slots", "2"});
  ASSERT_TRUE(runs_as(in_, "b")) << b->process().err();
  // Each has its own, and the others see it.
  EXPECT_THAT(b->get(election), AllOf(HasSubstr(R"("slot":1)"), HasSubstr(R"("slot":0})")));
  const auto fewer = run({tenure_binary(), "set", "test", "--slots", "1"}, in_);
  EXPECT_EQ(fewer.status, 2) << fewer.out;
  const auto more = run({tenure_binary(), "set", "test", "--slots", "3"}, in_);
  EXPECT_EQ(more.status, 0) << more.err;
  // The line may come after the answer.
  const auto log = [&] { return a->process().err() + b->process().err(); };
  eventually([&] { return log().contains("as ordered"); });
  EXPECT_THAT(log(),
              AllOf(HasSubstr("refused to change the election in the store (slots 1): 2 hold"),
                    HasSubstr("changed the election in the store, as ordered (slots 3)"),
                    Not(HasSubstr("as ordered (slots 1)"))));
}

TEST(AgreementOfAFile, SmallerVersionsNeedNotBeAcceptedAndAreRaisedAsTheRefusalSays) {
  const temporary_directory in;
  member a(in, {.identity = "a", .ttl = "1m"});
  ASSERT_TRUE(runs_as(in, "a")) << a.process().err();
  const auto refused = run({tenure_binary(), "set", "test", "--accept-versions"}, in);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("only if it is lost or replaced while no member runs"),
                    HasSubstr("; leave that out, it is for a restored etcd, Consul or Kubernetes"),
                    HasSubstr("UPDATE election SET version = N WHERE name = 'test'")));
  EXPECT_THAT(a.process().err(), HasSubstr("refused to change the election in the store"));

  a.process().send(SIGTERM);
  EXPECT_TRUE(a.process().wait());
  const auto raised =
      run({"sqlite3", in / "db", "UPDATE election SET version = 1000 WHERE name = 'test'"}, in);
  EXPECT_EQ(raised.status, 0) << raised.err;
  member again(in, {.identity = "again", .ttl = "1m"});
  EXPECT_TRUE(eventually([&] { return again.get(election).contains(R"("version":1001)"); }))
      << again.get(election) << again.process().err();
}

TEST(AgreementOfAFile, ChangeThatTheStoreDoesNotConfirmIsNotToldAsDone) {
  const temporary_directory in;
  std::filesystem::create_directory(in / "shared");
  member a(in, {.identity = "a", .ttl = "1m", .endpoint = in / "shared/db"});
  ASSERT_TRUE(runs_as(in, "a")) << a.process().err();
  std::filesystem::rename(in / "shared", in / "elsewhere");
  const auto unknown = run({tenure_binary(), "set", "test", "--slots", "2"}, in);
  std::filesystem::rename(in / "elsewhere", in / "shared");
  EXPECT_EQ(unknown.status, 4) << unknown.out << unknown.err;
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("see tenure status"), Not(HasSubstr("GET /"))));
  EXPECT_THAT(a.process().err(), AllOf(HasSubstr("(slots 2); whether it was changed is not known"),
                                       Not(HasSubstr("as told"))));
}

TEST_P(Agreement, TwinSaysThatItsIdentityIsInUse) {
  auto a = join("a");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto workload = a->workload();
  // Output that is read from now on may be from either.
  auto twin = join("a");
  ASSERT_TRUE(eventually([&] { return twin->process().said("another agent takes part as"); }))
      << twin->process().err();
  EXPECT_THAT(twin->get(election), HasSubstr(R"("not_campaigning":{"reason":"identity_used")"));
  EXPECT_EQ(a->workload(), workload);
  EXPECT_EQ(stamped_runs(in_).size(), 1U);
}

/// A free slot does not let a twin run its workload, even if the other twin does not use its own.
TEST_P(Agreement, TwinDoesNotCampaignForAFreeSlot) {
  auto a = join("a", {"--slots", "2"});
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  auto twin = join("a", {"--slots", "2"});
  ASSERT_TRUE(eventually([&] { return twin->process().said("another agent takes part as"); }))
      << twin->process().err();
  auto b = join("b", {"--slots", "2"});
  ASSERT_TRUE(runs_as(in_, "b")) << "nobody has the other slot";
  EXPECT_EQ(stamped_runs(in_).size(), 2U);
  EXPECT_FALSE(twin->process().said("campaigns again"));
}

TEST_P(Agreement, TwinOfOneThatIsPausedDoesNotCampaign) {
  auto a = join("a");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  ASSERT_EQ(run({tenure_binary(), "pause", "test"}, in_).status, 0);
  ASSERT_TRUE(eventually([&] { return a->process().said("released"); })) << a->process().err();
  auto twin = join("a");
  ASSERT_TRUE(eventually([&] { return twin->process().said("another agent takes part as"); }))
      << twin->process().err();
  auto b = join("b");
  ASSERT_TRUE(runs_as(in_, "b")) << "nobody has the lease";
  EXPECT_EQ(stamped_runs(in_).size(), 2U);
  EXPECT_FALSE(twin->process().said("campaigns again"));
}

/// A running workload keeps its lease if the store is busy while the next agent opens it.
TEST(AgreementOfAFile, StoreThatIsBusyAtFirstCostsAWorkloadThatRunsNothing) {
  const temporary_directory in;
  member a(in, {.identity = "a", .ttl = "1m"});
  const auto first = runs_as(in, "a");
  ASSERT_TRUE(first) << a.process().err();
  const auto workload = a.workload();
  const base::unique_fd busy(::open(in.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_TRUE(eventually([&] { return ::flock(busy.get(), LOCK_EX | LOCK_NB) == 0; }));
  const auto agent = a.agent();
  ASSERT_TRUE(agent);
  ::kill(*agent, SIGKILL);
  ASSERT_TRUE(eventually([&] { return a.process().said("retrying: the workload that runs"); }))
      << a.process().err();
  EXPECT_EQ(a.workload(), workload);
  ::flock(busy.get(), LOCK_UN);
  ASSERT_TRUE(eventually([&] { return a.process().said("active again under version"); }))
      << a.process().err();
  EXPECT_EQ(a.workload(), workload);
  EXPECT_EQ(stamped_runs(in).size(), 1U);
}

}  // namespace
}  // namespace tenure::tests
