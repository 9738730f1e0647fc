#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "harness.hpp"
#include "support/other_process.hpp"
#include "support/own_cgroup.hpp"

/// How a holder loses its lease, and that no other workload runs before its own is dead. The test
/// checks this by the stamps of the workloads, which know nothing of Tenure.
namespace tenure::tests {
namespace {

void expect_clean(const temporary_directory& in) {
  const auto runs = stamped_runs(in);
  EXPECT_TRUE(never_two_at_once(runs));
  EXPECT_TRUE(versions_grow(runs));
}

std::vector<std::string> stubborn(const temporary_directory& in) {
  return {stamper_binary(), in.path(), "stubborn"};
}

TEST(Takeover, AfterTheWholeHolderHasVanished) {
  const temporary_directory in;
  member a(in, {.identity = "a"});
  ASSERT_TRUE(runs_as(in, "a"));
  member b(in, {.identity = "b"});
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); }));
  a.pull_the_plug();
  ASSERT_TRUE(runs_as(in, "b", 1)) << b.process().err();
  expect_clean(in);
}

TEST(Takeover, AFrozenAgentsStubbornWorkloadIsKilledByTheGuardFirst) {
  const temporary_directory in;
  member a(in, {.identity = "a", .command = stubborn(in)});
  ASSERT_TRUE(runs_as(in, "a"));
  member b(in, {.identity = "b", .command = stubborn(in)});
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); }));
  const auto agent = a.agent();
  ASSERT_TRUE(agent);
  ::kill(*agent, SIGSTOP);
  ASSERT_TRUE(runs_as(in, "b", 1)) << b.process().err();
  EXPECT_FALSE(a.workload());
  ::kill(*agent, SIGCONT);
  EXPECT_TRUE(eventually([&] { return a.process().said("reason=renew_timeout"); }))
      << a.process().err();
  EXPECT_TRUE(eventually([&] {
    return a.get("/v1/elections/test").find("\"holder\":\"b\"") != std::string::npos;
  })) << a.process().err();
  expect_clean(in);
}

TEST(Takeover, AKilledGuardTakesItsWorkloadAlongAndTheAgentReleases) {
  const temporary_directory in;
  // Only a release can move this lease within the patience of the test.
  member a(in, {.identity = "a", .ttl = "10m"});
  ASSERT_TRUE(runs_as(in, "a"));
  const auto workload = a.workload();
  ASSERT_TRUE(workload);
  member b(in, {.identity = "b", .ttl = "10m"});
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); }));
  a.process().send(SIGKILL);
  ASSERT_TRUE(eventually([&] { return !is_alive(*workload); }));
  ASSERT_TRUE(runs_as(in, "b", 1)) << b.process().err() << a.process().err();
  // History and log show the real reason, not an orderly end.
  EXPECT_TRUE(eventually([&] {
    const std::string history = b.get("/v1/elections/test/history");
    return history.contains(R"("version":1,)") && history.contains(R"("reason":"guard_gone")");
  })) << b.get("/v1/elections/test/history");
  EXPECT_TRUE(eventually([&] { return a.process().said("guard_gone"); })) << a.process().err();
  EXPECT_FALSE(a.process().said("reason=shutdown")) << a.process().err();
  expect_clean(in);
}

TEST(Takeover, ProgramThatMakesItsCallerRootIsKilledByAGuardThatIsNotRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make such a program";
  const temporary_directory in;
  ASSERT_EQ(::chown(in.path().c_str(), 65534, 65534), 0);
  // It runs a command as root, as `sudo` does. Otherwise the workload goes on as who it is.
  const std::string becomes_root = in / "becomes_root";
  std::filesystem::copy_file("/usr/bin/setpriv", becomes_root);
  ASSERT_EQ(::chmod(becomes_root.c_str(), 04755), 0);
  const std::string stamper = stamper_for_all(in);
  const std::string stubborn = stamper + " " + in.path().string() + " stubborn";
  const std::vector<std::string> as_nobody{"setpriv", "--reuid=65534", "--regid=65534",
                                           "--clear-groups"};
  member a(in, {.identity = "a",
                .ttl = "2s",
                .command = {"sh", "-c",
                            becomes_root + " --reuid=0 --regid=0 --clear-groups " + stubborn +
                                " || exec " + stubborn},
                .before = as_nobody});
  ASSERT_TRUE(runs_as(in, "a")) << a.process().err();
  member b(in,
           {.identity = "b", .ttl = "2s", .command = {stamper, in.path()}, .before = as_nobody});
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); })) << b.process().err();
  const auto agent = a.agent();
  ASSERT_TRUE(agent);
  ASSERT_EQ(::kill(*agent, SIGSTOP), 0);
  ASSERT_TRUE(runs_as(in, "b")) << b.process().err();
  EXPECT_TRUE(never_two_at_once(stamped_runs(in)));
}

TEST(Takeover, WhatMayBeLeftOfTheWorkloadKeepsTheLeaseFromOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can start what another user owns";
  const own_cgroup cgroup("takeover");
  if (!cgroup.missing().empty()) GTEST_SKIP() << cgroup.missing();
  const temporary_directory in;
  member a(in, {.identity = "a", .ttl = "10m", .before = contained_in(cgroup)});
  ASSERT_TRUE(runs_as(in, "a")) << a.process().err();
  const auto agent = a.agent();
  ASSERT_TRUE(agent);
  // Younger than the workload, in its cgroup, of another user: it looks like a daemon of the
  // workload. A real one may be killed with the guard's children if the guard dies slowly enough.
  const other_process daemon(sleep_as_nobody);
  std::ofstream(cgroup.procs()) << daemon.pid();
  const pid_t left = daemon.pid();
  ASSERT_TRUE(eventually([&] { return name_of(left) == "sleep"; }));
  a.process().send(SIGKILL);
  ASSERT_TRUE(eventually([&] { return !is_alive(*agent); })) << "it has nothing more to do";
  EXPECT_TRUE(is_alive(left));
  EXPECT_TRUE(a.process().said("may have come out of the workload")) << a.process().err();
  // A new member finds the lease held.
  member b(in, {.identity = "b", .ttl = "10m"});
  EXPECT_TRUE(eventually([&] { return b.process().said("holder=a"); })) << b.process().err();
  expect_clean(in);
}

TEST(Takeover, AFrozenGuardCostsItsAgentTheLeaseLongBeforeThatEnds) {
  const temporary_directory in;
  // Only a release can move this lease within the patience of the test.
  member a(in,
           {.identity = "a", .ttl = "10m", .more = {"--renew", "500ms"}, .command = stubborn(in)});
  ASSERT_TRUE(runs_as(in, "a"));
  const auto workload = a.workload();
  ASSERT_TRUE(workload);
  member b(in, {.identity = "b", .ttl = "10m"});
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); }));
  a.process().send(SIGSTOP);
  ASSERT_TRUE(runs_as(in, "b", 1)) << b.process().err() << a.process().err();
  EXPECT_FALSE(is_alive(*workload));
  EXPECT_TRUE(eventually([&] { return a.process().said("the guard does not answer"); }))
      << a.process().err();
  expect_clean(in);
}

/// When the guard continues, it may carry out the start, but not after the deadline.
TEST(Takeover, AGuardThatIsFrozenBeforeItsTermBeginsLetsOthersGoOn) {
  const temporary_directory in;
  member a(in, {.identity = "a", .ttl = "3s"});
  ASSERT_TRUE(runs_as(in, "a"));
  member b(in, {.identity = "b", .ttl = "3s"});
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); }));
  b.process().send(SIGSTOP);
  a.process().send(SIGTERM);
  ASSERT_TRUE(eventually([&] { return b.process().said("version=2"); })) << b.process().err();
  member c(in, {.identity = "c", .ttl = "3s"});
  ASSERT_TRUE(runs_as(in, "c", 2)) << b.process().err() << c.process().err();
  b.process().send(SIGCONT);
  EXPECT_TRUE(eventually([&] { return c.is_active() && !b.workload(); }));
  expect_clean(in);
}

TEST(Takeover, AGuardThatDiesBeforeItSaysThatItHasStartedLeavesNothingBehind) {
  const temporary_directory in;
  member h(in, {.identity = "h", .ttl = "10m"});
  ASSERT_TRUE(runs_as(in, "h"));
  const std::string daemon = (in / "daemon").string();
  member a(in, {.identity = "a",
                .ttl = "10m",
                .command = {"sh", "-c",
                            "setsid sleep 1000 & echo $! > " + daemon + "; exec " +
                                stamper_binary() + " " + in.path().string()}});
  ASSERT_TRUE(eventually([&] { return a.process().said("holder=h"); }));
  // Its answer takes longer than it lives, because strace delays the send.
  const program slow({"strace", "-e", "trace=sendto", "-e", "inject=sendto:delay_enter=3000000",
                      "-p", std::to_string(a.process().pid())},
                     in / "strace");
  ASSERT_TRUE(eventually([&] { return slow.said("attached"); })) << slow.err();
  h.process().send(SIGTERM);
  ASSERT_TRUE(runs_as(in, "a", 1)) << a.process().err();
  pid_t left = 0;
  ASSERT_TRUE(std::ifstream(daemon) >> left);
  a.process().send(SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_alive(left); })) << a.process().err();
  member b(in, {.identity = "b", .ttl = "10m"});
  EXPECT_TRUE(runs_as(in, "b", 2)) << "what the guard left is dead: " << a.process().err();
  expect_clean(in);
}

TEST(Takeover, AnOperatorWhoDeletesTheLockEndsTheTermAndTheVersionGoesOn) {
  const temporary_directory in;
  member a(in, {.identity = "a", .ttl = "10m", .command = stubborn(in)});
  ASSERT_TRUE(runs_as(in, "a"));
  ASSERT_TRUE(eventually([&] { return a.is_active(); }));
  const std::string remove =
      "sqlite3 -cmd '.timeout 5000' '" + (in / "db").string() + "' 'DELETE FROM lease'";
  ASSERT_EQ(std::system(remove.c_str()), 0);
  EXPECT_TRUE(eventually([&] { return a.process().said("reason=revoked"); })) << a.process().err();
  ASSERT_TRUE(runs_as(in, "a", 1)) << a.process().err();
  expect_clean(in);
}

TEST(Takeover, OnLostExitEndsWithItsOwnStatus) {
  const temporary_directory in;
  member a(in, {.identity = "a", .ttl = "10m", .more = {"--on-lost", "exit"}});
  ASSERT_TRUE(runs_as(in, "a"));
  const std::string remove =
      "sqlite3 -cmd '.timeout 5000' '" + (in / "db").string() + "' 'DELETE FROM lease'";
  ASSERT_EQ(std::system(remove.c_str()), 0);
  EXPECT_EQ(a.process().wait(), 3) << a.process().err();
}

TEST(Takeover, ThreeMembersUnderRandomKillsNeverOverlap) {
  const temporary_directory in;
  // SIGKILL gets half a second: a busy machine may need more than the 50 ms of so short a lease.
  const auto options = [](const std::string& identity) {
    return member::options{.identity = identity, .ttl = "4s", .more = {"--kill-budget", "500ms"}};
  };
  std::vector<std::unique_ptr<member>> members;
  const std::vector<std::string> names{"a", "b", "c"};
  for (const std::string& n : names) {
    members.push_back(std::make_unique<member>(in, options(n)));
  }
  std::uint64_t version = 0;
  for (int round = 0; round < 12; ++round) {
    std::optional<stamped_run> holder;
    ASSERT_TRUE(eventually([&] {
      for (const stamped_run& r : stamped_runs(in)) {
        if (r.version > version) holder = r;
      }
      return holder.has_value();
    })) << "round "
        << round;
    version = holder->version;
    const auto which = static_cast<std::size_t>(holder->identity.front() - 'a');
    member& victim = *members[which];
    switch (round % 4) {
      case 0:
        victim.pull_the_plug();
        break;
      case 1:
        victim.process().send(SIGTERM);
        break;
      case 2:
        victim.process().send(SIGKILL);
        break;
      case 3:
        if (const auto agent = victim.agent()) ::kill(*agent, SIGSTOP);
        continue;  // it stays frozen until the end of the test
    }
    victim.process().wait();
    members[which] = std::make_unique<member>(in, options(names[which]));
  }
  expect_clean(in);
}

}  // namespace
}  // namespace tenure::tests
