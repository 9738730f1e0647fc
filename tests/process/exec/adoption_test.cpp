#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "placed_members.hpp"
#include "taken_port.hpp"

/// An agent dies, and the next one keeps its workload if the store confirms the lease.
namespace tenure::tests {
namespace {

class Adoption : public PlacedMembers {
 protected:
  void TearDown() override {
    const auto runs = stamped_runs(in_);
    EXPECT_TRUE(never_two_at_once(runs));
    EXPECT_TRUE(versions_grow(runs));
  }

  std::unique_ptr<member> join(const std::string& identity, const std::string& ttl,
                               const std::vector<std::string>& more = {}) {
    return member_of_store({.identity = identity, .ttl = ttl, .more = more});
  }

  /// The version of the lease that this member sees; 0 if nobody holds.
  static std::uint64_t version_seen_by(const member& who) {
    const std::string answer = who.get("/v1/elections/test");
    const std::string key = "\"version\":";
    const std::size_t at = answer.find(key);
    return at == std::string::npos ? 0
                                   : std::strtoull(answer.c_str() + at + key.size(), nullptr, 10);
  }

  /// Kills the agent and waits for the next one.
  static void replace_agent(member& of) {
    const auto agent = of.agent();
    ASSERT_TRUE(agent);
    ::kill(*agent, SIGKILL);
    ASSERT_TRUE(eventually([&] {
      const auto now = of.agent();
      return now && now != agent;
    })) << of.process().err();
  }

  /// True once this many agents have listened; `member::api` is then that of the newest.
  static bool listened(member& of, int agents) {
    int found = 0;
    const std::string log = of.process().err();
    for (auto at = log.find("msg=listening"); at != std::string::npos;
         at = log.find("msg=listening", at + 1)) {
      ++found;
    }
    return found == agents;
  }
};

INSTANTIATE_TEST_SUITE_P(On, Adoption, ::testing::ValuesIn(places()),
                         [](const auto& one) { return one.param.name; });

/// Only a release can move such a lease within the patience of a test.
constexpr const char* long_ttl = "10m";

TEST_P(Adoption, CrashedAgentCostsNoFailOver) {
  auto a = join("a", long_ttl);
  const auto first = runs_as(in_, "a");
  ASSERT_TRUE(first && eventually([&] { return a->is_active(); })) << a->process().err();
  auto b = join("b", long_ttl);
  ASSERT_TRUE(eventually([&] { return b->process().said("holder=a"); })) << b->process().err();
  const auto workload = a->workload();

  for (int crash = 0; crash < 2; ++crash) {
    replace_agent(*a);
    ASSERT_TRUE(eventually([&] { return a->is_active(); })) << a->process().err();
    EXPECT_EQ(a->workload(), workload);
    EXPECT_NE(a->get("/v1/elections/test").find("\"version\":" + std::to_string(first->version)),
              std::string::npos);
  }
  EXPECT_EQ(stamped_runs(in_).size(), 1U);

  // An adopted lease can be released.
  a->process().send(SIGTERM);
  ASSERT_TRUE(runs_as(in_, "b", first->version)) << b->process().err();
  EXPECT_EQ(a->process().wait(), 128 + SIGTERM) << "as its workload";
}

TEST_P(Adoption, NextAgentListensWhereTheWorkloadWasToldToAsk) {
  auto a = join("a", long_ttl);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const std::string told = a->api();
  for (int agents = 2; agents <= 3; ++agents) {
    replace_agent(*a);
    ASSERT_TRUE(eventually([&] { return listened(*a, agents); })) << a->process().err();
    EXPECT_EQ(a->api(), told);
  }
}

TEST_P(Adoption, PortThatWasTakenMeanwhileIsMissedAloud) {
  auto a = join("a", long_ttl);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const std::string told = a->api();
  const auto agent = a->agent();
  ASSERT_TRUE(agent);
  a->process().send(SIGSTOP);
  ::kill(*agent, SIGKILL);
  ASSERT_TRUE(eventually([&] { return a->get("/livez").empty(); }));
  const taken_port theirs(told);
  ASSERT_TRUE(theirs.is_taken());
  a->process().send(SIGCONT);
  ASSERT_TRUE(eventually([&] { return listened(*a, 2); })) << a->process().err();
  EXPECT_NE(a->api(), told);
  EXPECT_TRUE(eventually([&] {
    return a->process().said("TENURE_API is not where this agent listens");
  })) << a->process().err();
}

TEST_P(Adoption, AdoptedLeaseIsRenewed) {
  auto a = join("a", "3s");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto workload = a->workload();
  replace_agent(*a);
  ASSERT_TRUE(eventually([&] { return a->is_active(); })) << a->process().err();
  const auto begin = stamped_runs(in_).back().last;
  constexpr std::int64_t two_leases = 4'000'000'000;
  ASSERT_TRUE(eventually([&] { return stamped_runs(in_).back().last > begin + two_leases; }))
      << a->process().err();
  EXPECT_EQ(a->workload(), workload);
  EXPECT_EQ(stamped_runs(in_).size(), 1U);
}

TEST_P(Adoption, WorkloadWhoseLeaseIsGoneIsEndedFirst) {
  auto a = join("a", long_ttl);
  const auto first = runs_as(in_, "a");
  ASSERT_TRUE(first) << a->process().err();
  const auto workload = a->workload();
  const auto agent = a->agent();
  ASSERT_TRUE(workload && agent);
  ::kill(*agent, SIGSTOP);
  store_->delete_lock();
  ::kill(*agent, SIGKILL);
  ASSERT_TRUE(runs_as(in_, "a", first->version)) << a->process().err();
  EXPECT_FALSE(is_alive(*workload));
}

TEST_P(Adoption, WorkloadThatEndsByItselfEndsTheNextAgentToo) {
  auto a = join("a", long_ttl);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto workload = a->workload();
  replace_agent(*a);
  auto b = join("b", long_ttl);
  ::kill(*workload, SIGKILL);
  EXPECT_EQ(a->process().wait(), 128 + SIGKILL) << a->process().err();
  ASSERT_TRUE(runs_as(in_, "b", 1)) << b->process().err();
}

TEST_P(Adoption, CrashBetweenGrantAndStartCostsNoTtl) {
  auto gone = join("x", "3s");
  ASSERT_TRUE(runs_as(in_, "x")) << gone->process().err();
  gone->pull_the_plug();
  auto a = join("a", long_ttl, {"--lock-delay", "5m"});
  const auto is_pending = [&] {
    return a->get("/v1/elections/test").find("\"state\":\"pending\"") != std::string::npos;
  };
  ASSERT_TRUE(eventually(is_pending)) << a->process().err();
  const std::uint64_t first = version_seen_by(*a);
  ASSERT_GT(first, 0U);
  auto b = join("b", long_ttl, {"--lock-delay", "5m"});
  ASSERT_TRUE(eventually([&] { return version_seen_by(*b) == first; })) << b->process().err();
  replace_agent(*a);
  EXPECT_TRUE(eventually([&] { return version_seen_by(*b) > first; }))
      << a->process().err() << b->process().err();
}

/// For stores that are servers; SQLite answers as long as its disk does.
class AdoptionFromServer : public Adoption {};

INSTANTIATE_TEST_SUITE_P(On, AdoptionFromServer, ::testing::ValuesIn(server_places()),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(AdoptionFromServer, ThatDoesNotAnswerCostsTheWorkloadItsLife) {
  auto a = join("a", "3s");
  const auto first = runs_as(in_, "a");
  ASSERT_TRUE(first) << a->process().err();
  const auto workload = a->workload();
  ASSERT_TRUE(workload);
  store_->server()->freeze(0);
  replace_agent(*a);
  ASSERT_TRUE(eventually([&] { return !is_alive(*workload); }));
  store_->server()->thaw(0);
  ASSERT_TRUE(runs_as(in_, "a", first->version)) << a->process().err();
}

}  // namespace
}  // namespace tenure::tests
