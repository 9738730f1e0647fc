#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <mutex>

#include "hooked_agent.hpp"
#include "scripted_server.hpp"
#include "settings/endpoint.hpp"

/// A workload that others run: hooks tell it, and its answers decide.
namespace tenure::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using words = std::vector<std::string>;

/// Distinguishes a lease that ran out from a release: only after the former the next holder waits.
constexpr const char* waits = "the previous holder left no release record";

words told_by_command(const temporary_directory& in) {
  return {"--gain-command", notes(in), "--stop-command", notes(in)};
}

/// A workload with an HTTP interface, which records what it was told.
class http_workload {
 public:
  [[nodiscard]] std::string url(const std::string& path) const {
    return settings::text(server_.where()) + path;
  }
  /// All orders except the stop without a term at the start of each agent.
  [[nodiscard]] words heard() const {
    words all = heard_all();
    std::erase_if(all, [](const std::string& one) { return one.contains("\"version\":0,"); });
    return all;
  }
  [[nodiscard]] words heard_all() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  void serve(peer& with) {
    for (std::string asked; !(asked = with.request()).empty();) {
      {
        const std::lock_guard lock(mutex_);
        heard_.push_back(asked.substr(0, asked.find(" HTTP/")) + ' ' +
                         asked.substr(asked.find("\r\n\r\n") + 4));
      }
      with.reply("ok");
    }
  }

  mutable std::mutex mutex_;
  words heard_;
  scripted_server server_{[this](peer& with, int) { serve(with); }};
};

TEST(Hooks, CommandsTellTheWorkloadAndTheLeaseIsHandedOnOnceItHasStopped) {
  const temporary_directory in;
  hooked_agent a(in, "a", told_by_command(in));
  ASSERT_TRUE(eventually([&] { return noted(in).size() == 1; })) << a.process().err();
  hooked_agent b(in, "b", told_by_command(in));
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); })) << b.process().err();
  EXPECT_EQ(a.ends(), 0) << a.process().err();
  ASSERT_TRUE(eventually([&] { return noted(in).size() == 3; })) << b.process().err();
  EXPECT_THAT(noted(in), ElementsAre("gain a 1", "stop a 1", "gain b 2"));
  EXPECT_FALSE(b.process().said(waits)) << "the lease was released";
}

TEST(Hooks, HttpTellsTheWorkloadAndTheLeaseIsHandedOnOnceItHasStopped) {
  const temporary_directory in;
  const http_workload workload;
  hooked_agent a(in, "a",
                 {"--gain-http", workload.url("/on?x=1"), "--stop-http", workload.url("/off")});
  ASSERT_TRUE(eventually([&] { return workload.heard().size() == 1; })) << a.process().err();
  EXPECT_EQ(a.ends(), 0) << a.process().err();
  const words heard = workload.heard();
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_THAT(heard[0], testing::StartsWith("POST /on?x=1 "));
  EXPECT_THAT(heard[0],
              HasSubstr(R"("event":"gain","election":"test","identity":"a","version":1)"));
  EXPECT_THAT(heard[0], HasSubstr(R"("expires_in_ms":)"));
  EXPECT_THAT(heard[1], testing::StartsWith("POST /off "));
  EXPECT_THAT(heard[1],
              HasSubstr(R"("event":"stop","election":"test","identity":"a","version":1)"));
  EXPECT_THAT(heard[1], HasSubstr(R"("left_ms":)"));
  hooked_agent b(in, "b", told_by_command(in));
  ASSERT_TRUE(b.becomes_active()) << b.process().err();
  EXPECT_FALSE(b.process().said(waits)) << "the lease was released";
}

TEST(Hooks, NothingIsReleasedBeforeTheWorkloadHasStopped) {
  const temporary_directory in;
  const std::string until_told = "[ $TENURE_VERSION = 0 ] || until [ -e " +
                                 (in / "stopped").string() + " ]; do sleep 0.05; done";
  hooked_agent a(
      in, "a",
      {"--gain-command", notes(in), "--stop-command", notes(in, until_told), "--drain", "1h"});
  ASSERT_TRUE(eventually([&] { return noted(in).size() == 1; })) << a.process().err();
  hooked_agent b(in, "b", told_by_command(in));
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); })) << b.process().err();
  a.process().send(SIGTERM);
  ASSERT_TRUE(eventually([&] { return noted(in).size() == 2; })) << a.process().err();
  EXPECT_FALSE(b.process().said("nobody holds the lease"));
  EXPECT_FALSE(b.process().said("state=active"));
  std::ofstream(in / "stopped") << "";
  EXPECT_EQ(a.process().wait(), 0);
  ASSERT_TRUE(eventually([&] { return noted(in).size() == 3; })) << b.process().err();
  EXPECT_THAT(noted(in), ElementsAre("gain a 1", "stop a 1", "gain b 2"));
}

TEST(Hooks, WayThatHangsLeavesTimeForTheNext) {
  const temporary_directory in;
  scripted_server hangs([](peer& with, int) { with.closed(); });
  hooked_agent a(in, "a",
                 {"--stop-http", settings::text(hangs.where()) + "/", "--stop-command", notes(in),
                  "--drain", "2s"});
  ASSERT_TRUE(a.becomes_active()) << a.process().err();
  ASSERT_TRUE(eventually([&] { return a.process().said("was told that it is active"); }));
  hooked_agent b(in, "b", told_by_command(in));
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); })) << b.process().err();
  EXPECT_EQ(a.ends(), 0) << a.process().err();
  EXPECT_EQ(hangs.connections(), 2) << "at the start, too";
  ASSERT_TRUE(b.becomes_active()) << b.process().err();
  EXPECT_THAT(noted(in), testing::Contains("stop a 1"));
  EXPECT_FALSE(b.process().said(waits)) << "the lease was released";
}

TEST(Hooks, WorkloadThatNothingStopsKeepsTheLeaseFromOthersUntilItRunsOut) {
  const temporary_directory in;
  hooked_agent a(in, "a", {"--gain-command", notes(in), "--stop-command", notes(in, "false")},
                 "2s");
  ASSERT_TRUE(eventually([&] { return noted(in).size() == 1; })) << a.process().err();
  hooked_agent b(in, "b", told_by_command(in), "2s");
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); })) << b.process().err();
  EXPECT_EQ(a.ends(), 0) << a.process().err();
  EXPECT_TRUE(a.process().said("the lease is not released")) << a.process().err();
  ASSERT_TRUE(b.becomes_active()) << b.process().err();
  EXPECT_TRUE(eventually([&] { return b.process().said(waits); })) << "it was released\n"
                                                                   << b.process().err();
}

TEST(Hooks, WorkloadThatNothingStopsDoesNotKeepItsAgentFromComingBack) {
  const temporary_directory in;
  std::ofstream(in / "ok") << "";
  hooked_agent a(in, "a",
                 {"--stop-command", notes(in, "false"), "--drain", "1s", "--health-file", in / "ok",
                  "--health-interval", "400ms", "--health-delay", "0s"},
                 "2s");
  ASSERT_TRUE(a.becomes_active()) << a.process().err();
  std::filesystem::remove(in / "ok");
  ASSERT_TRUE(eventually([&] { return a.process().said("the lease is not released"); }))
      << a.process().err();
  hooked_agent b(in, "b", told_by_command(in), "2s");
  ASSERT_TRUE(b.becomes_active()) << b.process().err();
  std::ofstream(in / "ok") << "";
  ASSERT_TRUE(eventually([&] { return a.process().said("state=candidate"); })) << a.process().err();
  EXPECT_EQ(b.ends(), 0);
  EXPECT_TRUE(eventually([&] {
    const std::string log = a.process().err();
    return log.find("state=active", log.find("state=candidate")) != std::string::npos;
  })) << a.process().err();
}

TEST(Hooks, ExitCodeIsTheLastWayAndNothingIsReleased) {
  const temporary_directory in;
  const words timing{"--kill-budget", "3s", "--lock-delay", "1s"};
  words last = timing;
  last.insert(last.end(), {"--stop-command", notes(in, "false"), "--stop-exit-code", "42"});
  hooked_agent a(in, "a", last, "8s");
  ASSERT_TRUE(a.becomes_active()) << a.process().err();
  ASSERT_TRUE(eventually([&] { return a.process().said("was told that it is active"); }));
  words other = told_by_command(in);
  other.insert(other.end(), timing.begin(), timing.end());
  hooked_agent b(in, "b", other, "8s");
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); })) << b.process().err();
  EXPECT_EQ(a.ends(), 42) << a.process().err();
  EXPECT_THAT(noted(in), ElementsAre("stop a 1")) << "the command is tried before";
  ASSERT_TRUE(b.becomes_active()) << b.process().err();
  EXPECT_TRUE(eventually([&] { return b.process().said(waits); })) << "it was released\n"
                                                                   << b.process().err();
}

TEST(Hooks, StandbyWithAnExitCodeEndsAsUsual) {
  const temporary_directory in;
  member holder(in, {.identity = "h", .ttl = no_expiry});
  ASSERT_TRUE(runs_as(in, "h"));
  hooked_agent a(in, "a", {"--kill-budget", "3s", "--stop-exit-code", "42"});
  ASSERT_TRUE(eventually([&] { return a.process().said("holder=h"); })) << a.process().err();
  EXPECT_EQ(a.ends(), 0) << "nothing has to be stopped";
}

TEST(Hooks, FileIsThereWhileActiveAndNeverOtherwise) {
  const temporary_directory in;
  std::ofstream(in / "active") << "of an agent that was killed";
  member holder(in, {.identity = "h", .ttl = no_expiry});
  ASSERT_TRUE(runs_as(in, "h"));
  hooked_agent a(in, "a", {"--gain-file", in / "active", "--stop-command", "true"});
  ASSERT_TRUE(eventually([&] { return a.process().said("holder=h"); })) << a.process().err();
  EXPECT_FALSE(std::filesystem::exists(in / "active")) << "it is removed before anything else";
  holder.process().send(SIGTERM);
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(in / "active"); }))
      << a.process().err();
  const words lines = lines_of(in / "active");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0],
              HasSubstr(R"("event":"gain","election":"test","identity":"a","version":2)"));
  EXPECT_EQ(a.ends(), 0) << a.process().err();
  EXPECT_FALSE(std::filesystem::exists(in / "active"));
  EXPECT_FALSE(std::filesystem::exists(in / "active.new"));
}

TEST(Hooks, GainFileIsNotWrittenThroughALinkThatSomebodyHasPlanted) {
  const temporary_directory in;
  const std::filesystem::path precious = in / "precious";
  std::ofstream(precious) << "precious";
  std::filesystem::create_symlink(precious, in / "active.new");
  hooked_agent a(in, "a", {"--gain-file", in / "active", "--stop-command", "true"});
  const auto kind = [&] { return std::filesystem::symlink_status(in / "active").type(); };
  ASSERT_TRUE(eventually([&] { return kind() != std::filesystem::file_type::not_found; }))
      << a.process().err();
  EXPECT_EQ(kind(), std::filesystem::file_type::regular);
  std::string still;
  std::ifstream(precious) >> still;
  EXPECT_EQ(still, "precious");
}

TEST(Hooks, AgentThatComesBackTellsTheWorkloadToStopBeforeItCampaigns) {
  const temporary_directory in;
  const words as_ever = told_by_command(in);
  {
    hooked_agent before(in, "a", as_ever, "2s");
    ASSERT_TRUE(eventually([&] { return noted(in).size() == 1; })) << before.process().err();
    before.process().send(SIGKILL);
    ASSERT_EQ(before.process().wait(), 128 + SIGKILL);
  }
  hooked_agent a(in, "a", as_ever, "2s");
  ASSERT_TRUE(eventually([&] { return noted(in).size() == 2; })) << a.process().err();
  EXPECT_THAT(lines_of(in / "notes"), ElementsAre("stop a 0", "gain a 1", "stop a 0", "gain a 2"));
  EXPECT_TRUE(a.process().said("in case an earlier agent made it active"));
}

TEST(Hooks, FirstStopSaysByHttpThatThereIsNoTerm) {
  const temporary_directory in;
  const http_workload workload;
  hooked_agent a(in, "a", {"--stop-http", workload.url("/off")});
  ASSERT_TRUE(a.becomes_active()) << a.process().err();
  const words heard = workload.heard_all();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_THAT(heard[0],
              HasSubstr(R"("event":"stop","election":"test","identity":"a","version":0)"));
  EXPECT_THAT(heard[0], HasSubstr(R"("expires_in_ms":0,"left_ms":)"));
}

TEST(Hooks, WorkloadThatIsNotThereToBeStoppedAtTheStartKeepsNobodyFromCampaigning) {
  const temporary_directory in;
  hooked_agent a(in, "a", {"--stop-http", "http://127.0.0.1:1/off"});
  ASSERT_TRUE(a.becomes_active()) << a.process().err();
  EXPECT_TRUE(a.process().said("the workload could not be told to stop; if an earlier agent made"))
      << a.process().err();
}

TEST(Hooks, FirstStopThatHangsIsGivenUpInItsTime) {
  const temporary_directory in;
  hooked_agent a(in, "a", {"--stop-command", "sleep 1000", "--drain", "300ms"});
  ASSERT_TRUE(a.becomes_active()) << a.process().err();
  EXPECT_TRUE(a.process().said("sleep: not done in time")) << a.process().err();
}

TEST(Hooks, WorkloadThatCannotBeToldLetsOthersGoFirst) {
  const temporary_directory in;
  hooked_agent a(in, "a", {"--gain-command", "false", "--stop-command", notes(in)});
  ASSERT_TRUE(eventually([&] { return a.process().said("could not be told"); }))
      << a.process().err();
  hooked_agent b(in, "b", told_by_command(in));
  ASSERT_TRUE(b.becomes_active()) << b.process().err();
  ASSERT_TRUE(eventually([&] { return a.process().said("holder=b"); })) << a.process().err();
  EXPECT_THAT(noted(in), testing::Not(testing::Contains("stop a 1")))
      << "what was never told need not be stopped";
}

TEST(Hooks, WorkloadThatMayHaveBeenToldIsStoppedBeforeTheRelease) {
  const temporary_directory in;
  hooked_agent a(in, "a",
                 {"--gain-command", notes(in), "--gain-file", in / "no-such-directory" / "active",
                  "--stop-command", notes(in)});
  ASSERT_TRUE(eventually([&] { return noted(in).size() == 2; })) << a.process().err();
  EXPECT_THAT(noted(in), ElementsAre("gain a 1", "stop a 1"));
  hooked_agent b(in, "b", told_by_command(in));
  ASSERT_TRUE(b.becomes_active()) << b.process().err();
}

TEST(Hooks, WorkloadThatIsBeingToldIsStoppedOnceThatHasEnded) {
  const temporary_directory in;
  hooked_agent a(in, "a",
                 {"--gain-command", notes(in, "trap '' TERM; sleep 1000 & sleep 1000"),
                  "--stop-command", notes(in)});
  ASSERT_TRUE(eventually([&] { return noted(in).size() == 1; })) << a.process().err();
  EXPECT_EQ(a.ends(), 0) << a.process().err();
  EXPECT_THAT(noted(in), ElementsAre("gain a 1", "stop a 1"));
  hooked_agent b(in, "b", told_by_command(in));
  ASSERT_TRUE(b.becomes_active()) << b.process().err();
  EXPECT_FALSE(b.process().said(waits)) << "the lease was released";
}

TEST(Hooks, LostLeaseStopsTheWorkload) {
  const temporary_directory in;
  hooked_agent a(in, "a", told_by_command(in), "2s");
  ASSERT_TRUE(eventually([&] { return noted(in).size() == 1; })) << a.process().err();
  // The store is gone, so nothing can be renewed any more.
  std::filesystem::remove(in / "db");
  std::filesystem::create_directory(in / "db");
  EXPECT_TRUE(eventually([&] {
    const words all = noted(in);
    return all.size() >= 2 && all[1] == "stop a 1";
  })) << a.process().err();
}

TEST(Hooks, AreNotForACommandOfOurOwn) {
  const temporary_directory in;
  const finished ran = run({tenure_binary(), "exec", "--store", "sqlite", "--endpoint", in / "db",
                            "--election", "test", "--stop-command", "true", "--", "true"},
                           in);
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("gain_* and stop_* are for tenure agent"));
}

}  // namespace
}  // namespace tenure::tests
