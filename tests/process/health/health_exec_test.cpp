#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <fstream>

#include "harness.hpp"
#include "scripted_server.hpp"
#include "settings/endpoint.hpp"
#include "support/boot_clock.hpp"

/// How the workload's health affects the lease, and how checks must not.
namespace tenure::tests {
namespace {

using words = std::vector<std::string>;

/// Only a release can move this lease within the patience of a test.
constexpr const char* no_expiry = "10m";

/// Fast enough for a test, slow enough for a busy machine.
words checked(words how, words more = {}) {
  how.insert(how.end(), {"--health-interval", "400ms", "--health-delay", "0s"});
  how.insert(how.end(), more.begin(), more.end());
  return how;
}

void touch(const std::filesystem::path& path) {
  std::ofstream(path) << "";
}

void expect_clean(const temporary_directory& in) {
  EXPECT_TRUE(never_two_at_once(stamped_runs(in)));
  EXPECT_TRUE(versions_grow(stamped_runs(in)));
}

bool shows(const member& of, const std::string& part) {
  return of.get("/v1/elections/test").find(part) != std::string::npos;
}

TEST(Health, UnhealthyHoldersLeaseGoesToAnotherAndItsWorkloadIsDeadBefore) {
  const temporary_directory in;
  touch(in / "ok");
  member a(in, {.identity = "a",
                .ttl = no_expiry,
                .more = checked({"--health-file", in / "ok"}, {"--drain", "1s"}),
                .command = {stamper_binary(), in.path(), "stubborn"}});
  ASSERT_TRUE(runs_as(in, "a")) << a.process().err();
  ASSERT_TRUE(eventually([&] { return shows(a, R"("health":{"state":"healthy")"); }));
  member b(in, {.identity = "b", .ttl = no_expiry});
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); })) << b.process().err();
  std::filesystem::remove(in / "ok");
  ASSERT_TRUE(runs_as(in, "b", 1)) << a.process().err() << b.process().err();
  EXPECT_TRUE(eventually([&] { return a.process().said("reason=unhealthy"); }))
      << a.process().err();
  EXPECT_TRUE(eventually([&] { return a.process().said("No such file or directory"); }))
      << a.process().err();
  EXPECT_FALSE(b.get("/v1/elections/test").empty());
  EXPECT_FALSE(shows(b, "\"health\"")) << "nothing is checked there";
  expect_clean(in);
}

TEST(Health, ComesBackOnlyAfterItsPause) {
  const temporary_directory in;
  constexpr std::int64_t ttl_nanoseconds = 2'000'000'000;
  member a(in, {.identity = "a", .ttl = "2s", .more = checked({"--health-file", in / "ok"})});
  ASSERT_TRUE(runs_as(in, "a", 2)) << a.process().err();
  const auto runs = stamped_runs(in);
  ASSERT_GE(runs.size(), 3U);
  EXPECT_GE(runs[1].first - runs[0].last, ttl_nanoseconds);
  EXPECT_GE(runs[2].first - runs[1].last, 2 * ttl_nanoseconds) << "twice in a row";
  expect_clean(in);
}

TEST(Health, UnhealthyCandidateNeverGetsAFreeLease) {
  const temporary_directory in;
  member a(in, {.identity = "a",
                .ttl = no_expiry,
                .more = checked({"--health-file", in / "ok", "--health-while", "always"})});
  ASSERT_TRUE(eventually([&] { return shows(a, R"("health":{"state":"unhealthy")"); }))
      << a.process().err();
  member b(in, {.identity = "b", .ttl = no_expiry});
  const auto of_b = runs_as(in, "b");
  ASSERT_TRUE(of_b) << b.process().err();
  EXPECT_EQ(of_b->version, 1U) << "nobody was granted the lease before";
  ASSERT_TRUE(eventually([&] { return a.process().said("holder=b"); })) << a.process().err();
  b.process().send(SIGTERM);
  b.process().wait();
  const std::string log = a.process().err();
  ASSERT_TRUE(eventually([&] {
    return a.process().err().find("nobody holds the lease", log.find("holder=b")) !=
           std::string::npos;
  })) << a.process().err();
  const std::int64_t made = boot_nanoseconds();
  touch(in / "ok");
  const auto of_a = runs_as(in, "a");
  ASSERT_TRUE(of_a) << a.process().err();
  EXPECT_EQ(of_a->version, 2U) << "it was not granted the lease while it was unhealthy";
  EXPECT_GT(of_a->first, made);
  expect_clean(in);
}

TEST(Health, HolderThatIsAlwaysCheckedComesBackWhenItIsWell) {
  const temporary_directory in;
  touch(in / "ok");
  member a(in, {.identity = "a",
                .ttl = "1s",
                .more = checked({"--health-file", in / "ok", "--health-while", "always"})});
  ASSERT_TRUE(runs_as(in, "a")) << a.process().err();
  std::filesystem::remove(in / "ok");
  ASSERT_TRUE(eventually([&] { return !a.workload(); })) << a.process().err();
  ASSERT_TRUE(eventually([&] { return shows(a, "\"state\":\"candidate\""); }));
  EXPECT_TRUE(shows(a, R"("health":{"state":"unhealthy")"));
  const std::int64_t made = boot_nanoseconds();
  touch(in / "ok");
  const auto again = runs_as(in, "a", 1);
  ASSERT_TRUE(again) << a.process().err();
  EXPECT_GT(again->first, made);
  expect_clean(in);
}

TEST(Health, HttpAnswerDecidesAndIsToldInLogAndApi) {
  const temporary_directory in;
  std::atomic<int> status = 200;
  scripted_server server([&](peer& with, int) {
    while (!with.request().empty()) {
      with.send("HTTP/1.1 " + std::to_string(status) + " x\r\nContent-Length: 0\r\n\r\n");
    }
  });
  const std::string url = settings::text(server.where()) + "/healthz";
  member a(in, {.identity = "a",
                .ttl = no_expiry,
                .more = checked({"--health-http", url + "?token=hunter2"})});
  ASSERT_TRUE(eventually([&] { return shows(a, R"("health":{"state":"healthy","reason":null)"); }))
      << a.process().err();
  member b(in, {.identity = "b", .ttl = no_expiry});
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); }));
  status = 503;
  ASSERT_TRUE(runs_as(in, "b", 1)) << a.process().err();
  EXPECT_TRUE(eventually([&] { return a.process().said("GET " + url + " answered 503"); }))
      << a.process().err();
  EXPECT_FALSE(a.process().said("hunter2"));
  expect_clean(in);
}

TEST(Health, CommandThatHangsCostsNoRenewal) {
  const temporary_directory in;
  constexpr std::int64_t several_ttls = 4'000'000'000;
  const std::string hang = "trap '' TERM; sleep 1000 & sleep 1000; wait";
  member a(in, {.identity = "a",
                .ttl = "1s",
                .more = checked({"--health-command", "sh -c \"" + hang + "\""},
                                {"--health-failures", "100"})});
  ASSERT_TRUE(eventually([&] {
    const auto runs = stamped_runs(in);
    return !runs.empty() && runs.back().last - runs.front().first > several_ttls;
  })) << a.process().err();
  EXPECT_EQ(stamped_runs(in).size(), 1U) << a.process().err();
  EXPECT_TRUE(shows(a, "no end within 400ms")) << a.get("/v1/elections/test");
  EXPECT_FALSE(a.process().said("does not answer")) << a.process().err();
}

TEST(Health, ServerThatHangsCostsNoRenewal) {
  const temporary_directory in;
  constexpr std::int64_t several_ttls = 4'000'000'000;
  scripted_server server([](peer& with, int) { with.closed(); });
  member a(in, {.identity = "a",
                .ttl = "1s",
                .more = checked({"--health-http", settings::text(server.where())},
                                {"--health-failures", "100"})});
  ASSERT_TRUE(eventually([&] {
    const auto runs = stamped_runs(in);
    return !runs.empty() && runs.back().last - runs.front().first > several_ttls;
  })) << a.process().err();
  EXPECT_EQ(stamped_runs(in).size(), 1U) << a.process().err();
  EXPECT_TRUE(shows(a, "no answer within 400ms")) << a.get("/v1/elections/test");
}

TEST(Health, KilledAgentLeavesNoCheckBehind) {
  const temporary_directory in;
  const std::string check = "sh -c \"echo $$ > " + (in / "check").string() +
                            "; setsid sleep 1000 & echo $! > " + (in / "daemon").string() +
                            "; sleep 1000; sleep 1000\"";
  member a(in, {.identity = "a",
                .more = {"--health-command", check, "--health-interval", "1h", "--health-timeout",
                         "1h"}});
  const auto id_in = [&](const char* file) {
    pid_t id = 0;
    std::ifstream(in / file) >> id;
    return id;
  };
  ASSERT_TRUE(eventually([&] { return id_in("check") > 0 && id_in("daemon") > 0; }))
      << a.process().err();
  const pid_t check_id = id_in("check");
  const pid_t daemon_id = id_in("daemon");
  const auto agent = a.agent();
  ASSERT_TRUE(agent);
  ::kill(*agent, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_alive(check_id) && !is_alive(daemon_id); }));
  EXPECT_TRUE(eventually([&] { return a.agent() && a.agent() != agent; })) << a.process().err();
}

TEST(Health, ChecksAreNoPartOfTheWorkload) {
  // If its processes were taken for the workload's, the lease would be held until they end.
  const temporary_directory in;
  const std::string check =
      "sh -c \"echo $$ > " + (in / "check").string() + "; sleep 1000; sleep 1000\"";
  member a(in,
           {.identity = "a",
            .ttl = no_expiry,
            .more = {"--health-command", check, "--health-interval", "1h", "--health-timeout", "1h",
                     "--health-while", "active"},
            .command = {"sh", "-c", "until [ -s " + (in / "check").string() + " ]; do :; done"}});
  EXPECT_EQ(a.process().wait(), 0) << a.process().err();
  member b(in, {.identity = "b", .ttl = no_expiry});
  EXPECT_TRUE(runs_as(in, "b", 1)) << b.process().err();
}

TEST(Health, AgentWithoutAWorkloadOfItsOwnIsCheckedAlways) {
  const temporary_directory in;
  program agent(
      {tenure_binary(),     "agent", "--store",        "sqlite", "--endpoint",    in / "db",
       "--election",        "test",  "--identity",     "a",      "--ttl",         "2s",
       "--listen",          "off",   "--probe-listen", "off",    "--health-file", in / "ok",
       "--health-interval", "400ms"},
      in / "agent");
  ASSERT_TRUE(eventually([&] { return agent.said("health is always checked"); })) << agent.err();
  member b(in, {.identity = "b", .ttl = "2s"});
  const auto of_b = runs_as(in, "b");
  ASSERT_TRUE(of_b) << b.process().err();
  EXPECT_EQ(of_b->version, 1U);
  EXPECT_FALSE(agent.said("state=active"));
  b.process().send(SIGTERM);
  b.process().wait();
  touch(in / "ok");
  EXPECT_TRUE(eventually([&] { return agent.said("state=active"); })) << agent.err();
}

}  // namespace
}  // namespace tenure::tests
