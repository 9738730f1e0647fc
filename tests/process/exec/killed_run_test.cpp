#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include "placed_members.hpp"
#include "support/other_process.hpp"
#include "support/own_cgroup.hpp"

/// A run is killed as a whole, with its agent, and the next one of the same member on this machine
/// proves that it is over. Its lease is one that only a release can move within the patience of a
/// test.
namespace tenure::tests {
namespace {

constexpr const char* long_ttl = "10m";
constexpr const char* is_over = "nothing of it is left";

bool has_record(const temporary_directory& in) {
  for (const auto& one : std::filesystem::directory_iterator(in / "agents")) {
    if (one.path().extension() == ".run") return true;
  }
  return false;
}

/// SIGKILL to both, so that neither can do anything for the other.
void kill_guard_and_agent(member& of) {
  const auto agent = of.agent();
  ASSERT_TRUE(agent);
  ::kill(*agent, SIGSTOP);
  of.process().send(SIGKILL);
  ::kill(*agent, SIGKILL);
  ASSERT_TRUE(eventually([&] { return !is_alive(*agent); }));
}

/// Another run of the member "a", beside the one that there is.
std::vector<std::string> another_a(const temporary_directory& in) {
  return {tenure_binary(),
          "exec",
          "--election",
          "test",
          "--identity",
          "a",
          "--ttl",
          long_ttl,
          "--listen",
          "127.0.0.1:0",
          "--store",
          "sqlite",
          "--endpoint",
          (in / "db").string(),
          "--",
          stamper_binary(),
          in.path().string()};
}

class KilledRun : public PlacedMembers {
 protected:
  void TearDown() override {
    const auto runs = stamped_runs(in_);
    EXPECT_TRUE(never_two_at_once(runs));
    EXPECT_TRUE(versions_grow(runs));
  }

  std::unique_ptr<member> join(const std::string& identity) {
    return member_of_store({.identity = identity, .ttl = long_ttl});
  }
};

INSTANTIATE_TEST_SUITE_P(On, KilledRun, ::testing::ValuesIn(places()),
                         [](const auto& one) { return one.param.name; });

TEST_P(KilledRun, IsFollowedAtOnce) {
  auto a = join("a");
  const auto first = runs_as(in_, "a");
  ASSERT_TRUE(first) << a->process().err();
  a->pull_the_plug();
  a = join("a");
  EXPECT_TRUE(runs_as(in_, "a", first->version)) << a->process().err();
  EXPECT_TRUE(a->process().said(is_over)) << a->process().err();
}

TEST_P(KilledRun, FreesItsLeaseForOthersOnceItIsBack) {
  auto a = join("a");
  const auto first = runs_as(in_, "a");
  ASSERT_TRUE(first) << a->process().err();
  auto b = join("b");
  ASSERT_TRUE(eventually([&] { return b->process().said("holder=a"); })) << b->process().err();
  a->pull_the_plug();
  a = join("a");
  // Whoever comes first.
  EXPECT_TRUE(eventually([&] {
    return std::ranges::any_of(stamped_runs(in_),
                               [&](const auto& one) { return one.version > first->version; });
  })) << a->process().err()
      << b->process().err();
}

TEST(KilledRunOfAFile, WhoseDaemonLivesIsEndedFirst) {
  const temporary_directory in;
  const std::string daemon = (in / "daemon").string();
  auto a = std::make_unique<member>(
      in, member::options{.identity = "a",
                          .ttl = long_ttl,
                          .command = {"sh", "-c",
                                      "setsid sleep 1000 & echo $! > " + daemon + "; exec " +
                                          stamper_binary() + " " + in.path().string()}});
  const auto first = runs_as(in, "a");
  ASSERT_TRUE(first) << a->process().err();
  pid_t left = 0;
  ASSERT_TRUE(std::ifstream(daemon) >> left);
  kill_guard_and_agent(*a);
  ASSERT_TRUE(is_alive(left)) << "it has a session of its own";
  a = std::make_unique<member>(in, member::options{.identity = "a", .ttl = long_ttl});
  EXPECT_TRUE(runs_as(in, "a", first->version)) << a->process().err();
  EXPECT_FALSE(is_alive(left));
}

TEST(KilledRunOfAFile, OfWhichSomethingMayBeLeftKeepsItsLease) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can start what another user owns";
  const own_cgroup cgroup("killed_run");
  if (!cgroup.missing().empty()) GTEST_SKIP() << cgroup.missing();
  const temporary_directory in;
  const member::options how{.identity = "a", .ttl = long_ttl, .before = contained_in(cgroup)};
  auto a = std::make_unique<member>(in, how);
  ASSERT_TRUE(runs_as(in, "a")) << a->process().err();
  const other_process daemon(sleep_as_nobody);
  std::ofstream(cgroup.procs()) << daemon.pid();
  ASSERT_TRUE(eventually([&] { return name_of(daemon.pid()) == "sleep"; }));
  a->pull_the_plug();
  a = std::make_unique<member>(in, how);
  EXPECT_TRUE(eventually([&] { return a->process().said("Its lease runs out by itself"); }))
      << a->process().err();
  EXPECT_TRUE(eventually([&] { return a->process().said("holder=a"); })) << a->process().err();
  EXPECT_FALSE(a->process().said(is_over)) << a->process().err();
  EXPECT_TRUE(is_alive(daemon.pid()));
  EXPECT_EQ(stamped_runs(in).size(), 1U);
}

TEST(KilledRunOfAFile, ThatLivesIsLeftAlone) {
  const temporary_directory in;
  member a(in, {.identity = "a", .ttl = long_ttl});
  const auto first = runs_as(in, "a");
  ASSERT_TRUE(first && eventually([&] { return a.is_active(); })) << a.process().err();
  const program twin(another_a(in), in / "twin");
  ASSERT_TRUE(eventually([&] { return twin.said("holder=a"); })) << twin.err();
  EXPECT_FALSE(twin.said(is_over)) << twin.err();
  EXPECT_TRUE(a.is_active());
  // The record is still the first one's.
  a.pull_the_plug();
  const member again(in, {.identity = "a", .ttl = long_ttl});
  EXPECT_TRUE(eventually([&] { return again.process().said(is_over); })) << again.process().err();
  EXPECT_TRUE(never_two_at_once(stamped_runs(in)));
}

TEST(KilledRunOfAFile, WhoseAgentIsStoppedIsNotOver) {
  const temporary_directory in;
  auto a = std::make_unique<member>(in, member::options{.identity = "a", .ttl = long_ttl});
  ASSERT_TRUE(runs_as(in, "a")) << a->process().err();
  const auto agent = a->agent();
  ASSERT_TRUE(agent);
  ::kill(*agent, SIGSTOP);
  a->process().send(SIGKILL);
  const program again(another_a(in), in / "again");
  EXPECT_TRUE(eventually([&] { return again.said("holder=a"); })) << again.err();
  EXPECT_FALSE(again.said(is_over)) << again.err();
  EXPECT_EQ(stamped_runs(in).size(), 1U);
  ::kill(*agent, SIGKILL);
}

TEST(KilledRunOfAFile, ThatEndsInOrderLeavesNoRecord) {
  const temporary_directory in;
  member a(in, {.identity = "a", .ttl = long_ttl});
  ASSERT_TRUE(runs_as(in, "a")) << a.process().err();
  EXPECT_TRUE(has_record(in));
  a.process().send(SIGTERM);
  EXPECT_EQ(a.process().wait(), 128 + SIGTERM);
  EXPECT_FALSE(has_record(in));
}

TEST(KilledRunOfAFile, IsNotOverForAnotherAgentOfTheSameGuard) {
  const temporary_directory in;
  member a(in, {.identity = "a", .ttl = long_ttl});
  const auto first = runs_as(in, "a");
  ASSERT_TRUE(first) << a.process().err();
  const auto agent = a.agent();
  ASSERT_TRUE(agent);
  ::kill(*agent, SIGKILL);
  ASSERT_TRUE(eventually([&] {
    const auto now = a.agent();
    return now && now != agent && a.is_active();
  })) << a.process().err();
  EXPECT_FALSE(a.process().said(is_over)) << a.process().err();
  // Its record is the second agent's now.
  a.pull_the_plug();
  const member again(in, {.identity = "a", .ttl = long_ttl});
  EXPECT_TRUE(runs_as(in, "a", first->version)) << again.process().err();
}

}  // namespace
}  // namespace tenure::tests
