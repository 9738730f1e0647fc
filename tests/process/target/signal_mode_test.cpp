#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/unique_fd.hpp"
#include "exec/call_list.hpp"
#include "exec/harness.hpp"
#include "pod.hpp"
#include "support/eventually.hpp"
#include "support/freezer.hpp"

/// `tenure agent` beside a container whose processes it did not start.
namespace tenure::tests {
namespace {

using ::testing::HasSubstr;

/// Only a release can move such a lease within the patience of a test.
constexpr const char* long_ttl = "10m";
constexpr const char* short_ttl = "2s";

class SignalMode : public testing::Test {
 protected:
  void SetUp() override {
    if (!pod_.missing().empty()) GTEST_SKIP() << pod_.missing();
  }

  void TearDown() override { EXPECT_TRUE(never_two_at_once(stamped_runs(in_))); }

  /// Starts the sidecar in container a; returns the id of its guard.
  pid_t start_agent(const std::string& ttl, const std::string& more = {}) {
    std::ostringstream script;
    script << "echo $$; exec " << before_ << tenure_binary() << " agent --store sqlite --endpoint "
           << (in_ / "db").string() << " --election test " << identity_ << " --ttl " << ttl
           << (more.find("--target") == std::string::npos ? " --target-executable stamper " : " ")
           << more << " --listen 127.0.0.1:0 --probe-listen off 2> " << log_file();
    return pod_.start_script('a', script.str());
  }

  /// Starts the workload in container b, as the kubelet does.
  pid_t start_workload(const std::string& how = {}) {
    return pod_.start_script(
        'b', "echo $$; TENURE_IDENTITY=a TENURE_VERSION=" + std::to_string(++workloads_) +
                 " exec " + stamper_binary() + " " + in_.path().string() + " " + how);
  }

  /// Flags for a workload that runs on a standby and is told by `how`.
  static std::string told_by(const std::string& how) {
    return "--target-executable sleep --while-standby run " + how;
  }

  /// Starts a workload for these flags.
  pid_t start_sleeper() { return pod_.start_program('b', "sleep 1000"); }

  static std::string text_of(const std::filesystem::path& file) {
    std::ostringstream all;
    all << std::ifstream(file).rdbuf();
    return all.str();
  }

  /// Starts both; the workload runs under the agent's lease.
  void holds(const std::string& ttl, const std::string& how = {}) {
    guard_ = start_agent(ttl);
    ASSERT_TRUE(says("workload may run")) << log();
    workload_ = start_workload(how);
    ASSERT_TRUE(runs_as(in_, "a"));
  }

  /// The workload runs under the agent's lease, and since it was told so by a program that the
  /// target does not name.
  void holds_as_another_program(const std::string& ttl) {
    const auto before = other(long_ttl);
    ASSERT_TRUE(runs_as(in_, "b"));
    guard_ = start_agent(ttl,
                         "--target-command-line 'sh -c trap' --while-standby run --on-gain signal "
                         "--gain-signal USR1");
    ASSERT_TRUE(says("holder=b")) << log();
    workload_ = pod_.start_script(
        'b', "trap 'TENURE_IDENTITY=a TENURE_VERSION=" + std::to_string(++workloads_) + " exec " +
                 stamper_binary() + " " + in_.path().string() +
                 "' USR1; echo $$; while :; do sleep 0.01; done");
    before->process().send(SIGTERM);
    ASSERT_TRUE(runs_as(in_, "a")) << log();
  }

  /// Another member, outside the pod.
  std::unique_ptr<member> other(const std::string& ttl) {
    return std::make_unique<member>(in_, member::options{.identity = "b", .ttl = ttl});
  }

  [[nodiscard]] std::string log_file() const { return in_ / log_name_; }
  [[nodiscard]] std::string log() const { return text_of(log_file()); }
  [[nodiscard]] bool says(const std::string& what) const {
    return eventually([&] { return log().find(what) != std::string::npos; });
  }

  /// True once an agent has found the previous agent's workload and keeps it.
  [[nodiscard]] bool next_agent_is_active() const {
    return eventually([&] {
      const std::string all = log();
      const auto found = all.find("found the workload of an agent that has ended");
      return found != std::string::npos && all.find("state=active", found) != std::string::npos;
    });
  }

  /// Signals the agent itself, a child of the guard.
  void signal_agent(pid_t guard, int signo) {
    int status = -1;
    const std::string number = std::to_string(guard);
    pod_.start('e',
               {"sh", "-c",
                "for c in $(cat /proc/" + number + "/task/" + number +
                    "/children); do case $(cat /proc/$c/comm) in *-log | *-look) ;; *) kill -" +
                    std::to_string(signo) + " $c ;; esac; done"})
        ->hear_all(status);
    EXPECT_EQ(status, 0);
  }

  pod pod_{apart::by_version_1};
  temporary_directory in_;
  int workloads_ = 0;
  std::string identity_ = "--identity a";
  std::string log_name_ = "agent.log";
  std::string before_;  ///< in front of the sidecar's command line
  pid_t guard_ = 0;     ///< of `holds`
  pid_t workload_ = 0;  ///< of `holds`
};

TEST_F(SignalMode, WhatRunsWithoutALeaseIsStoppedAsOftenAsItIsStarted) {
  const auto holder = other(long_ttl);
  ASSERT_TRUE(runs_as(in_, "b"));
  const pid_t before = pod_.start_program('b', "sleep 1000");
  start_agent(long_ttl, "--target-executable sleep");
  EXPECT_TRUE(eventually([&] { return !pod_.runs(before); })) << log();
  const pid_t again = pod_.start_program('b', "sleep 1000");
  EXPECT_TRUE(eventually([&] { return !pod_.runs(again); })) << log();
  EXPECT_THAT(log(), HasSubstr("the workload runs without a lease"));
}

TEST_F(SignalMode, LeaseThatIsGainedWhileAStrayEndsBeginsWhenThatIsDead) {
  const pid_t stray = start_workload("stubborn");
  ASSERT_TRUE(runs_as(in_, "a"));
  start_agent(long_ttl);
  ASSERT_TRUE(says("state=active")) << log();
  ASSERT_TRUE(says("workload may run")) << log();
  EXPECT_FALSE(pod_.runs(stray));
  const pid_t workload = start_workload();
  ASSERT_TRUE(says("workload found")) << log();
  EXPECT_TRUE(pod_.runs(workload));
}

TEST_F(SignalMode, WhatWasStoppedOnAStandbyIsNotTakenForTheHoldersWorkload) {
  const auto before = other(long_ttl);
  ASSERT_TRUE(runs_as(in_, "b"));
  const pid_t guard = start_agent(long_ttl, "--target-executable sleep");
  ASSERT_TRUE(says("holder=b")) << log();
  const pid_t stray = start_sleeper();
  ASSERT_TRUE(eventually([&] { return !pod_.runs(stray); })) << log();
  before->process().send(SIGTERM);
  ASSERT_TRUE(says("workload may run")) << log();
  const pid_t workload = start_sleeper();
  ASSERT_TRUE(says("workload found")) << log();
  // Its end is heard of, and so the lease is given up and does not run out.
  const auto next = other(long_ttl);
  ASSERT_TRUE(eventually([&] { return next->process().said("holder=a"); }));
  pod_.signal(guard, SIGTERM);
  ASSERT_TRUE(runs_as(in_, "b", 2)) << log();
  EXPECT_FALSE(pod_.runs(workload));
}

TEST_F(SignalMode, HoldersWorkloadRunsAndIsDeadBeforeTheLeaseIsGivenUp) {
  ASSERT_NO_FATAL_FAILURE(holds(long_ttl));
  const auto next = other(long_ttl);
  ASSERT_TRUE(eventually([&] { return next->process().said("holder=a"); }));
  EXPECT_TRUE(pod_.runs(workload_));
  pod_.signal(guard_, SIGTERM);
  ASSERT_TRUE(runs_as(in_, "b")) << log() << next->process().err();
  EXPECT_FALSE(pod_.runs(workload_));
}

TEST_F(SignalMode, FrozenAgentsDeafWorkloadIsKilledByTheGuardFirst) {
  ASSERT_NO_FATAL_FAILURE(holds(short_ttl, "stubborn"));
  const auto next = other(short_ttl);
  ASSERT_TRUE(eventually([&] { return next->process().said("holder=a"); }));
  signal_agent(guard_, SIGSTOP);
  ASSERT_TRUE(runs_as(in_, "b")) << log();
  EXPECT_FALSE(pod_.runs(workload_));
}

TEST_F(SignalMode, KilledAgentIsStartedAgainAndGoesOnWithTheWorkload) {
  ASSERT_NO_FATAL_FAILURE(holds(long_ttl));
  signal_agent(guard_, SIGKILL);
  ASSERT_TRUE(next_agent_is_active()) << log();
  EXPECT_TRUE(pod_.runs(workload_));
}

TEST_F(SignalMode, NameThatNobodyHasChosenStaysWhenTheAgentIsKilled) {
  identity_.clear();
  ASSERT_NO_FATAL_FAILURE(holds(long_ttl));
  signal_agent(guard_, SIGKILL);
  ASSERT_TRUE(next_agent_is_active()) << log();
  EXPECT_TRUE(pod_.runs(workload_));
}

TEST_F(SignalMode, KilledGuardsWorkloadIsKilledByTheAgent) {
  ASSERT_NO_FATAL_FAILURE(holds(long_ttl, "stubborn"));
  const auto next = other(long_ttl);
  ASSERT_TRUE(eventually([&] { return next->process().said("holder=a"); }));
  pod_.signal(guard_, SIGKILL);
  ASSERT_TRUE(runs_as(in_, "b")) << log();
  EXPECT_FALSE(pod_.runs(workload_));
}

TEST_F(SignalMode, WorkloadThatHasExecutedAnotherProgramIsKilledWhenItsGuardIsFrozen) {
  ASSERT_NO_FATAL_FAILURE(holds_as_another_program(short_ttl));
  const auto next = other(long_ttl);
  ASSERT_TRUE(eventually([&] { return next->process().said("holder=a"); }));
  pod_.signal(guard_, SIGSTOP);
  ASSERT_TRUE(runs_as(in_, "b", 2)) << log();
  EXPECT_FALSE(pod_.runs(workload_)) << log();
}

TEST_F(SignalMode, WorkloadThatHasExecutedAnotherProgramIsKilledWhenItsGuardIsKilled) {
  ASSERT_NO_FATAL_FAILURE(holds_as_another_program(long_ttl));
  const auto next = other(long_ttl);
  ASSERT_TRUE(eventually([&] { return next->process().said("holder=a"); }));
  pod_.signal(guard_, SIGKILL);
  ASSERT_TRUE(runs_as(in_, "b", 2)) << log();
  EXPECT_FALSE(pod_.runs(workload_)) << log();
}

TEST_F(SignalMode, WorkloadThatHangsInTheKernelIsNamedAndItsLeaseKeptUntilItIsDead) {
  const freezer hanging;
  if (!hanging.missing().empty()) GTEST_SKIP() << hanging.missing();
  const pid_t guard = start_agent(long_ttl, "--drain 100ms");
  ASSERT_TRUE(says("workload may run")) << log();
  const pid_t workload = start_workload();
  ASSERT_TRUE(runs_as(in_, "a"));
  const auto next = other(long_ttl);
  ASSERT_TRUE(eventually([&] { return next->process().said("holder=a"); }));
  int status = -1;
  pod_.start('e', {"sh", "-c", "echo " + std::to_string(workload) + " > " + hanging.procs()})
      ->hear_all(status);
  ASSERT_EQ(status, 0);
  const freezer::frost frost(hanging);
  pod_.signal(guard, SIGTERM);
  ASSERT_TRUE(says("the workload hangs in the kernel")) << log();
  EXPECT_THAT(log(), HasSubstr(" name=stamper state=D "));
  EXPECT_FALSE(next->process().said("nobody holds the lease"));
  frost.thaw();
  ASSERT_TRUE(runs_as(in_, "b")) << log();
}

TEST_F(SignalMode, WorkloadThatEndsByItselfGivesTheLeaseUp) {
  ASSERT_NO_FATAL_FAILURE(holds(long_ttl));
  const auto next = other(long_ttl);
  ASSERT_TRUE(eventually([&] { return next->process().said("holder=a"); }));
  ASSERT_TRUE(says("workload found")) << log();
  pod_.signal(workload_, SIGKILL);
  ASSERT_TRUE(runs_as(in_, "b")) << log();
  EXPECT_THAT(log(), HasSubstr("reason=workload_exited"));
}

TEST_F(SignalMode, WorkloadThatRunsOnAStandbyIsToldWhenItIsActive) {
  auto holder = other(long_ttl);
  ASSERT_TRUE(runs_as(in_, "b"));
  const std::string wait = "trap 'touch " + (in_ / "told").string() + "' USR1; touch " +
                           (in_ / "up").string() + "; while :; do sleep 0.01; done";
  const std::string flags = "--target-executable " + pod::shell() +
                            " --while-standby run --on-gain signal --gain-signal USR1";
  const pid_t too_early = pod_.start_script('b', "echo $$; " + wait);
  start_agent(long_ttl, flags);
  // It is unknown what the workload was told before.
  EXPECT_TRUE(eventually([&] { return !pod_.runs(too_early); })) << log();
  ASSERT_TRUE(says("holder=b")) << log();
  std::filesystem::remove(in_ / "up");
  const pid_t workload = pod_.start_script('b', "echo $$; " + wait);
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(in_ / "up"); }));
  EXPECT_FALSE(std::filesystem::exists(in_ / "told"));
  holder->process().send(SIGTERM);
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(in_ / "told"); })) << log();
  EXPECT_TRUE(pod_.runs(workload));
}

TEST_F(SignalMode, FileTellsWhatRunsOnAStandbyAndIsGoneBeforeTheRelease) {
  const auto told = in_ / "active";
  const pid_t guard = start_agent(long_ttl, told_by("--gain-file " + told.string()));
  ASSERT_TRUE(says("the workload was told that it is active")) << log();
  EXPECT_THAT(text_of(told), HasSubstr(R"("event":"gain","election":"test","identity":"a")"));
  const pid_t workload = start_sleeper();
  ASSERT_TRUE(says("workload found")) << log();
  const auto next = other(long_ttl);
  ASSERT_TRUE(eventually([&] { return next->process().said("holder=a"); }));
  pod_.signal(guard, SIGTERM);
  ASSERT_TRUE(runs_as(in_, "b")) << log();
  EXPECT_FALSE(std::filesystem::exists(told));
  EXPECT_FALSE(pod_.runs(workload));
}

TEST_F(SignalMode, FileIsTakenBackWhenTheWorkloadEndsByItself) {
  const auto told = in_ / "active";
  start_agent(long_ttl, told_by("--gain-file " + told.string()));
  ASSERT_TRUE(says("the workload was told that it is active")) << log();
  const pid_t workload = start_sleeper();
  ASSERT_TRUE(says("workload found")) << log();
  const auto next = other(long_ttl);
  ASSERT_TRUE(eventually([&] { return next->process().said("holder=a"); }));
  pod_.signal(workload, SIGKILL);
  ASSERT_TRUE(runs_as(in_, "b")) << log();
  EXPECT_FALSE(std::filesystem::exists(told)) << "its successor would take itself for active";
}

TEST_F(SignalMode, WorkloadThatCannotBeToldIsStoppedAndTheLeaseGivenUp) {
  const auto holder = other(long_ttl);
  ASSERT_TRUE(runs_as(in_, "b"));
  start_agent(long_ttl, told_by("--gain-command false"));
  ASSERT_TRUE(says("holder=b")) << log();
  const pid_t workload = start_sleeper();
  holder->process().send(SIGTERM);
  ASSERT_TRUE(says("the workload could not be told that it is active; giving the lease up"))
      << log();
  EXPECT_TRUE(eventually([&] { return !pod_.runs(workload); })) << log();
  ASSERT_TRUE(says("state=candidate")) << log();
}

TEST_F(SignalMode, NextAgentTellsTheWorkloadAgainThatItHasFound) {
  const auto told = in_ / "active";
  const pid_t guard = start_agent(long_ttl, told_by("--gain-file " + told.string()));
  ASSERT_TRUE(says("the workload was told that it is active")) << log();
  const pid_t workload = start_sleeper();
  ASSERT_TRUE(says("workload found")) << log();
  // As if the agent had been killed just before.
  std::filesystem::remove(told);
  signal_agent(guard, SIGKILL);
  ASSERT_TRUE(next_agent_is_active()) << log();
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(told); })) << log();
  EXPECT_TRUE(pod_.runs(workload));
}

TEST_F(SignalMode, GainWithoutAWorkloadToTellIsGivenUp) {
  start_agent(long_ttl, "--while-standby run --on-gain signal --gain-signal USR1");
  ASSERT_TRUE(says("cannot tell the workload that it is active")) << log();
  EXPECT_THAT(log(), HasSubstr("the target names no process that runs"));
  ASSERT_TRUE(says("state=candidate")) << log();
}

TEST_F(SignalMode, GainOfAWorkloadThatHangsInTheKernelIsGivenUp) {
  const auto before = other(long_ttl);
  ASSERT_TRUE(runs_as(in_, "b"));
  const std::string command = TARGET_STAGE " spawning " + (in_ / "told").string();
  start_agent(long_ttl, "--target-command-line '" + command +
                            "' --while-standby run --on-gain signal --gain-signal USR1");
  ASSERT_TRUE(says("holder=b")) << log();
  const pid_t main = pod_.start_program('b', command);
  ASSERT_TRUE(eventually([&] { return pod_.state(main) == 'D'; }));
  before->process().send(SIGTERM);
  EXPECT_TRUE(says("cannot tell the workload that it is active")) << log();
  EXPECT_THAT(log(), HasSubstr("hangs in the kernel (state D)"));
  EXPECT_FALSE(std::filesystem::exists(in_ / "told"));
  EXPECT_FALSE(std::filesystem::exists(in_ / "told.child"));
}

TEST_F(SignalMode, TargetInOurOwnContainerIsRefusedWithTheFix) {
  pod_.start_program('a', "sleep 1000");
  start_agent(long_ttl, "--target-executable sleep");
  ASSERT_TRUE(says("which is in our own container; name what only the main container")) << log();
}

TEST_F(SignalMode, FullPipeForALogDoesNotKeepTheGuardFromKilling) {
  log_name_ = "pipe";
  ASSERT_EQ(::mkfifo(log_file().c_str(), 0600), 0);
  const base::unique_fd pipe(::open(log_file().c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  std::string read;
  const auto says = [&](const std::string& what) {
    char some[4096];
    for (ssize_t got = 0; (got = ::read(pipe.get(), some, sizeof some)) > 0;) {
      read.append(some, static_cast<std::size_t>(got));
    }
    return read.contains(what);
  };
  guard_ = start_agent(short_ttl);
  ASSERT_TRUE(eventually([&] { return says("workload may run"); })) << read;
  workload_ = start_workload("stubborn");
  ASSERT_TRUE(eventually([&] { return says("workload found"); })) << read;
  while (::write(pipe.get(), "#", 1) == 1) continue;
  const auto next = other(short_ttl);
  ASSERT_TRUE(eventually([&] { return next->process().said("holder=a"); }));
  signal_agent(guard_, SIGSTOP);
  ASSERT_TRUE(runs_as(in_, "b"));
  EXPECT_FALSE(pod_.runs(workload_));
}

TEST_F(SignalMode, PidFileOnAMountThatHangsDoesNotKeepTheGuardFromKilling) {
  const std::string place = in_ / "place";
  ASSERT_EQ(::mkdir(place.c_str(), 0700), 0);
  guard_ = start_agent(short_ttl, "--target-pid-file " + place + "/pid");
  ASSERT_TRUE(says("workload may run")) << log();
  workload_ = start_workload("stubborn");
  std::ofstream(place + "/pid") << workload_ << '\n';
  ASSERT_TRUE(runs_as(in_, "a"));
  ASSERT_TRUE(says("workload found")) << log();
  const auto next = other(short_ttl);
  ASSERT_TRUE(eventually([&] { return next->process().said("holder=a"); }));
  // The containers have the mounts of their pod.
  pod_.start_script(
      'e',
      "exec python3 -c 'import ctypes, os, sys, time\n"
      "server = os.open(\"/dev/fuse\", os.O_RDWR)\n"
      "how = f\"fd={server},rootmode=40000,user_id=0,group_id=0\".encode()\n"
      "failed = ctypes.CDLL(None).mount(b\"hung\", sys.argv[1].encode(), b\"fuse\", 0, how)\n"
      "print(0 if failed else os.getpid(), flush=True)\n"
      "time.sleep(1000)' " +
          place);
  signal_agent(guard_, SIGSTOP);
  ASSERT_TRUE(runs_as(in_, "b")) << log();
  EXPECT_FALSE(pod_.runs(workload_));
}

TEST_F(SignalMode, GuardMakesNoCallThatMayWait) {
  // Of all targets it needs most calls.
  before_ = "strace -D -yy -o " + (in_ / "trace").string() + " ";
  const std::string target =
      "--target-command-line '" + stamper_binary() + " " + in_.path().string() + "'";
  guard_ = start_agent(short_ttl, target);
  ASSERT_TRUE(says("workload may run")) << log();
  start_workload("stubborn");
  ASSERT_TRUE(runs_as(in_, "a"));
  signal_agent(guard_, SIGSTOP);
  EXPECT_TRUE(says("the guard kills")) << log();
  signal_agent(guard_, SIGCONT);
  ASSERT_TRUE(says("active under version 2")) << log();
  start_workload();
  ASSERT_TRUE(runs_as(in_, "a", 1));
  // The guard kills at once when its agent is killed, and starts another one.
  signal_agent(guard_, SIGKILL);
  ASSERT_TRUE(says("was killed by SIGKILL")) << log();
  pod_.signal(guard_, SIGTERM);
  EXPECT_TRUE(eventually([&] { return !pod_.runs(guard_); }));
  const call_list list{TENURE_DOCS};
  ASSERT_FALSE(list.empty());
  std::size_t seen = 0;
  EXPECT_THAT(list.refused(in_ / "trace", seen), ::testing::IsEmpty());
  EXPECT_GT(seen, 100U);
}

}  // namespace
}  // namespace tenure::tests
