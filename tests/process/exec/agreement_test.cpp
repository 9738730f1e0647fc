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

/// As a roll-out has it: those with the new number come first, and then the old one ends.
TEST_P(Agreement, NumberOfSlotsFollowsTheMembers) {
  auto a = join("a");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  // One after the other: for a moment a member that joins is listed without its number.
  std::unique_ptr<member> b;
  std::unique_ptr<member> c;
  for (const auto& [one, name] : {std::pair(&b, "b"), std::pair(&c, "c")}) {
    *one = join(name, {"--slots", "2"});
    ASSERT_TRUE(eventually([&] { return (*one)->process().said("does not campaign: "); }))
        << (*one)->process().err();
    EXPECT_THAT((*one)->process().err(),
                AllOf(HasSubstr("level=warn msg=\"does not campaign: it is set up for 2 slots"),
                      HasSubstr("has 1 in the store; it waits until those that hold or have that "
                                "number have gone: a\"")));
    EXPECT_TRUE(comes_to_say(**one, election, R"("not_campaigning":{"reason":"other_slots")"));
  }
  EXPECT_TRUE(a->is_active());

  a->process().send(SIGTERM);
  EXPECT_TRUE(a->process().wait());
  EXPECT_TRUE(eventually([&] { return b->is_active() && c->is_active(); }))
      << b->process().err() << c->process().err();
  EXPECT_THAT(b->process().err(), HasSubstr("the election has 2 slots now, instead of 1"));

  auto late = join("late");
  ASSERT_TRUE(eventually([&] { return late->process().said("have gone: b, c"); }))
      << late->process().err();
  EXPECT_TRUE(b->is_active() && c->is_active());

  for (const auto* one : {&b, &c}) {
    (*one)->process().send(SIGTERM);
    EXPECT_TRUE((*one)->process().wait());
  }
  EXPECT_TRUE(eventually([&] { return late->is_active(); })) << late->process().err();
}

TEST_P(Agreement, NumberOfSlotsIsNotOrdered) {
  auto a = join("a");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto refused = run({tenure_binary(), "set", "test", "--api", a->api()}, in_);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("nothing to change"));
  const auto by_number = run({tenure_binary(), "set", "test", "--slots", "2"}, in_);
  EXPECT_EQ(by_number.status, 2) << by_number.out;
  EXPECT_TRUE(a->is_active());
}

TEST_P(Agreement, SmallerVersionsAreNotAcceptedWhileNoneWentBack) {
  auto a = join("a");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto refused = run({tenure_binary(), "set", "test", "--accept-versions"}, in_);
  EXPECT_NE(refused.status, 0) << refused.out;
  EXPECT_THAT(refused.err,
              HasSubstr(GetParam().kind == "sqlite"
                            ? "only if it is lost or replaced while no member runs"
                            : "as far as a has seen, versions have not gone back in election "
                              "\"test\"; if another member says that they have"));
  EXPECT_TRUE(a->is_active());
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
                    HasSubstr("UPDATE election SET version = N WHERE name = 'ELECTION'")));
  EXPECT_THAT(a.process().err(), HasSubstr("refused to accept smaller versions"));

  a.process().send(SIGTERM);
  EXPECT_TRUE(a.process().wait());
  const auto raised =
      run({"sqlite3", in / "db", "UPDATE election SET version = 1000 WHERE name = 'test'"}, in);
  EXPECT_EQ(raised.status, 0) << raised.err;
  member again(in, {.identity = "again", .ttl = "1m"});
  EXPECT_TRUE(eventually([&] { return again.get(election).contains(R"("version":1001)"); }))
      << again.get(election) << again.process().err();
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
