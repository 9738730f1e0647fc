#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "harness.hpp"
#include "support/own_cgroup.hpp"
#include "taken_port.hpp"

/// `tenure guard` in one container and `tenure agent` in another; each may start, end and be
/// replaced on its own.
namespace tenure::tests {
namespace {

using ::testing::HasSubstr;

/// Only a release can move such a lease within the patience of a test.
constexpr const char* long_ttl = "10m";
constexpr const char* short_ttl = "2s";

bool is_stopped(pid_t pid) {
  std::string all;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), all);
  return all.find(") T ") != std::string::npos;
}

/// As in a container whose processes are invisible to others.
const std::vector<std::string> own_namespace{"unshare", "--pid", "--fork", "--kill-child",
                                             "--mount-proc"};

/// The two containers of one pod.
class pod {
 public:
  pod(const temporary_directory& in, std::string identity, std::string ttl)
      : pod(in, identity, std::move(ttl), in / ("shared-" + identity), in / "db") {}
  pod(const temporary_directory& in, std::string identity, std::string ttl,
      std::filesystem::path directory, std::filesystem::path store)
      : in_(in),
        identity_(std::move(identity)),
        ttl_(std::move(ttl)),
        directory_(std::move(directory)),
        store_(std::move(store)) {}

  void start_guard(std::vector<std::string> command = {}, std::vector<std::string> before = {},
                   std::vector<std::string> flags = {}) {
    if (command.empty()) command = {stamper_binary(), in_.path()};
    std::vector<std::string> words = std::move(before);
    words.insert(words.end(), {tenure_binary(), "guard", "--dir", directory()});
    words.insert(words.end(), flags.begin(), flags.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    guard_ = std::make_unique<program>(words, next("guard"));
  }

  void start_agent(std::vector<std::string> before = {},
                   const std::string& listen = "127.0.0.1:0") {
    std::vector<std::string> words = std::move(before);
    words.insert(words.end(),
                 {tenure_binary(), "agent", "--store", "sqlite", "--endpoint", store_.string(),
                  "--election", "test", "--identity", identity_, "--ttl", ttl_, "--guard-dir",
                  directory(), "--listen", listen, "--probe-listen", "off"});
    agent_ = std::make_unique<program>(words, next("agent"));
  }

  void start() {
    start_guard();
    start_agent();
  }

  /// Kills the agent with SIGKILL and starts the next one.
  void replace_agent() {
    end(*agent_, SIGKILL);
    start_agent();
  }

  static int end(program& which, int signo) {
    which.send(signo);
    return which.wait().value_or(-1);
  }

  [[nodiscard]] program& guard() const { return *guard_; }
  [[nodiscard]] program& agent() const { return *agent_; }
  [[nodiscard]] std::string directory() const { return directory_; }
  [[nodiscard]] std::optional<pid_t> workload() const {
    const auto children = children_of(guard_->pid());
    return children.empty() ? std::nullopt : std::optional(children.front());
  }
  [[nodiscard]] bool knows_holder(const std::string& who) const {
    return eventually([&] { return agent_->said("holder=" + who); });
  }
  [[nodiscard]] std::string logs() const { return guard_->err() + agent_->err(); }

 private:
  std::filesystem::path next(const std::string& kind) {
    return in_ / (identity_ + "-" + kind + std::to_string(++started_));
  }

  const temporary_directory& in_;
  std::string identity_;
  std::string ttl_;
  std::filesystem::path directory_;
  std::filesystem::path store_;
  int started_ = 0;
  std::unique_ptr<program> guard_;
  std::unique_ptr<program> agent_;
};

class GuardSocket : public ::testing::Test {
 protected:
  /// Starts both; the second one is standby.
  void holds_before(pod& holder, pod& standby) {
    holder.start();
    ASSERT_TRUE(runs_as(in_, "a")) << holder.logs();
    standby.start();
    ASSERT_TRUE(standby.knows_holder("a")) << standby.logs();
  }

  void TearDown() override {
    const auto runs = stamped_runs(in_);
    EXPECT_TRUE(never_two_at_once(runs));
    EXPECT_TRUE(versions_grow(runs));
  }

  temporary_directory in_;
};

TEST_F(GuardSocket, CommandRunsOnlyWhereTheLeaseIsAndMoreThanOnceInOneContainer) {
  pod a(in_, "a", short_ttl);
  pod b(in_, "b", short_ttl);
  ASSERT_NO_FATAL_FAILURE(holds_before(a, b));
  EXPECT_FALSE(b.workload());

  // No other agent follows, so its lease runs out.
  pod::end(a.agent(), SIGKILL);
  const auto taken = runs_as(in_, "b", 1);
  ASSERT_TRUE(taken) << b.logs();
  EXPECT_FALSE(a.workload());

  a.start_agent();
  ASSERT_TRUE(a.knows_holder("b")) << a.logs();
  pod::end(b.guard(), SIGTERM);
  ASSERT_TRUE(runs_as(in_, "a", taken->version)) << a.logs();
}

TEST_F(GuardSocket, ReplacedAgentCostsNoFailOverHoweverItEnds) {
  pod a(in_, "a", "6s");
  a.start();
  ASSERT_TRUE(runs_as(in_, "a")) << a.logs();
  const auto workload = a.workload();

  a.replace_agent();
  ASSERT_TRUE(eventually([&] { return a.agent().said("state=active"); })) << a.logs();
  EXPECT_EQ(pod::end(a.agent(), SIGTERM), 0) << a.logs();
  EXPECT_THAT(a.agent().err(), HasSubstr("left the workload to another agent"));
  a.start_agent();
  ASSERT_TRUE(eventually([&] { return a.agent().said("state=active"); })) << a.logs();

  EXPECT_EQ(a.workload(), workload);
  EXPECT_EQ(stamped_runs(in_).size(), 1U);
}

TEST_F(GuardSocket, PodThatEndsGivesTheLeaseUpAtOnce) {
  pod a(in_, "a", long_ttl);
  pod b(in_, "b", long_ttl);
  ASSERT_NO_FATAL_FAILURE(holds_before(a, b));
  a.agent().send(SIGTERM);
  EXPECT_EQ(pod::end(a.guard(), SIGTERM), 128 + SIGTERM) << "as its command";
  EXPECT_EQ(a.agent().wait(), 0) << a.logs();
  ASSERT_TRUE(runs_as(in_, "b", 1)) << b.logs();
}

TEST_F(GuardSocket, CommandThatEndsByItselfEndsItsContainerAndTheLeaseButNotTheAgent) {
  pod a(in_, "a", short_ttl);
  pod b(in_, "b", short_ttl);
  a.start_guard({"sh", "-c",
                 "while [ ! -e " + (in_ / "end").string() +
                     " ]; do sleep 0.01; done; "
                     "exit 7"});
  a.start_agent();
  ASSERT_TRUE(eventually([&] { return a.agent().said("workload started"); })) << a.logs();
  b.start();
  ASSERT_TRUE(b.knows_holder("a"));
  std::ofstream(in_ / "end");
  EXPECT_EQ(a.guard().wait(), 7) << a.logs();
  const auto taken = runs_as(in_, "b");
  ASSERT_TRUE(taken) << b.logs();
  ASSERT_TRUE(a.knows_holder("b")) << a.logs();

  // Its container restarts, and it may hold again.
  a.start_guard();
  ASSERT_TRUE(eventually([&] { return a.agent().said("guard found"); })) << a.logs();
  b.agent().send(SIGTERM);
  pod::end(b.guard(), SIGTERM);
  ASSERT_TRUE(runs_as(in_, "a", taken->version)) << a.logs();
}

TEST_F(GuardSocket, AgentWithoutAGuardDoesNotTakeAFreeLease) {
  pod a(in_, "a", long_ttl);
  pod b(in_, "b", long_ttl);
  a.start_agent();
  ASSERT_TRUE(eventually([&] { return a.agent().said("store reached"); }));
  EXPECT_THAT(a.agent().err(), HasSubstr("no guard; not campaigning"));
  b.start();
  ASSERT_TRUE(runs_as(in_, "b")) << b.logs();
  ASSERT_TRUE(a.knows_holder("b"));
}

TEST_F(GuardSocket, KilledGuardTakesItsCommandAlongAndTheLeaseIsGivenUp) {
  pod a(in_, "a", long_ttl);
  pod b(in_, "b", long_ttl);
  ASSERT_NO_FATAL_FAILURE(holds_before(a, b));
  EXPECT_THAT(a.agent().get("/metrics"), HasSubstr("\ntenure_guard_up 1\n"));
  pod::end(a.guard(), SIGKILL);
  ASSERT_TRUE(runs_as(in_, "b", 1)) << a.logs() << b.logs();
  EXPECT_THAT(a.agent().err(), HasSubstr("the guard is gone"));
  EXPECT_THAT(a.agent().get("/metrics"), HasSubstr("\ntenure_guard_up 0\n"));
}

TEST_F(GuardSocket, FrozenGuardCostsTheLeaseAndItsCommand) {
  pod a(in_, "a", "3s");
  pod b(in_, "b", "3s");
  a.start_guard({stamper_binary(), in_.path(), "stubborn"});
  a.start_agent();
  ASSERT_TRUE(runs_as(in_, "a")) << a.logs();
  const auto workload = a.workload();
  b.start();
  ASSERT_TRUE(b.knows_holder("a"));
  a.guard().send(SIGSTOP);
  ASSERT_TRUE(runs_as(in_, "b", 1)) << a.logs() << b.logs();
  EXPECT_FALSE(is_alive(*workload));
  EXPECT_THAT(a.agent().err(), HasSubstr("the guard does not answer"));
  // Its command is dead, so its container ends.
  EXPECT_EQ(pod::end(a.guard(), SIGCONT), 128 + SIGKILL);
  a.start_guard();
  ASSERT_TRUE(eventually([&] { return a.agent().said("guard found"); })) << a.logs();
}

/// As `kubectl delete pod` does it: an end in order is not told as a guard that fails.
TEST_F(GuardSocket, GuardThatIsToldToEndEndsTheTermInOrder) {
  pod a(in_, "a", short_ttl);
  a.start_guard();
  a.start_agent();
  ASSERT_TRUE(runs_as(in_, "a")) << a.logs();
  pod::end(a.guard(), SIGTERM);
  ASSERT_TRUE(eventually([&] { return a.agent().said("lease released"); })) << a.logs();
  const std::string said = a.agent().err();
  EXPECT_TRUE(said.contains("reason=shutdown")) << said;
  EXPECT_FALSE(said.contains("guard_gone")) << said;
  EXPECT_FALSE(said.contains("the guard is gone")) << said;
}

TEST_F(GuardSocket, FrozenGuardOutOfSightKillsWhenItCanAndIsUsedAgain) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for a PID namespace";
  pod a(in_, "a", short_ttl);
  a.start_guard({}, own_namespace);
  a.start_agent(own_namespace);
  const auto first = runs_as(in_, "a");
  ASSERT_TRUE(first) << a.logs();
  const auto guard = children_of(a.guard().pid()).front();
  ::kill(guard, SIGSTOP);
  ASSERT_TRUE(eventually([&] { return a.agent().said("reason=guard_gone"); })) << a.logs();
  ::kill(guard, SIGCONT);
  ASSERT_TRUE(eventually([&] { return a.agent().said("the guard answers again"); })) << a.logs();
  ASSERT_TRUE(runs_as(in_, "a", first->version)) << a.logs();
}

/// As when it runs out of memory: what the kernel has ended needs no lease.
TEST_F(GuardSocket, ContainerThatDiesFreesItsLeaseAtOnce) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for a PID namespace";
  pod a(in_, "a", long_ttl);
  pod b(in_, "b", long_ttl);
  a.start_guard({}, own_namespace);
  a.start_agent(own_namespace);
  const auto first = runs_as(in_, "a");
  ASSERT_TRUE(first) << a.logs();
  b.start();
  ASSERT_TRUE(b.knows_holder("a"));
  pod::end(a.guard(), SIGKILL);
  ASSERT_TRUE(runs_as(in_, "b", first->version)) << a.logs() << b.logs();
  EXPECT_THAT(a.agent().err(), HasSubstr("reason=container_died"));

  a.start_guard({}, own_namespace);
  ASSERT_TRUE(eventually([&] { return a.agent().said("guard found"); })) << a.logs();
}

/// Of an agent that came later than its guard, which has found the workload.
TEST_F(GuardSocket, ContainerThatDiesFreesTheLeaseThatTheNextAgentKeeps) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for a PID namespace";
  pod a(in_, "a", long_ttl);
  pod b(in_, "b", long_ttl);
  a.start_guard({}, own_namespace);
  a.start_agent(own_namespace);
  const auto first = runs_as(in_, "a");
  ASSERT_TRUE(first) << a.logs();
  pod::end(a.agent(), SIGKILL);
  a.start_agent(own_namespace);
  ASSERT_TRUE(eventually([&] { return a.agent().said("active again under version"); })) << a.logs();
  b.start();
  ASSERT_TRUE(b.knows_holder("a"));
  pod::end(a.guard(), SIGKILL);
  ASSERT_TRUE(runs_as(in_, "b", first->version)) << a.logs() << b.logs();
}

/// Its end says nothing of the rest of its container.
TEST_F(GuardSocket, GuardThatIsNotTheFirstProcessKeepsItsLeaseUntilThatRunsOut) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for a PID namespace";
  pod a(in_, "a", short_ttl);
  pod b(in_, "b", short_ttl);
  std::vector<std::string> behind_a_shell = own_namespace;
  behind_a_shell.insert(behind_a_shell.end(), {"sh", "-c", "\"$@\"; sleep 600", "sh"});
  a.start_guard({}, behind_a_shell);
  a.start_agent(own_namespace);
  ASSERT_TRUE(runs_as(in_, "a")) << a.logs();
  b.start();
  ASSERT_TRUE(b.knows_holder("a"));
  const pid_t shell = children_of(a.guard().pid()).front();
  ::kill(children_of(shell).front(), SIGKILL);
  ASSERT_TRUE(runs_as(in_, "b", 1)) << a.logs() << b.logs();
  EXPECT_THAT(a.agent().err(), HasSubstr("reason=guard_gone"));

  a.start_guard({}, own_namespace);
  ASSERT_TRUE(eventually([&] { return a.agent().said("guard found"); })) << a.logs();
}

/// The agent sends its guard orders until it has heard that the guard ends, and nobody else could
/// tell it that the command is dead.
TEST_F(GuardSocket, WhatAGuardSaysLastIsHeardOutOfSight) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for a PID namespace";
  constexpr int turns = 20;
  pod a(in_, "a", long_ttl);
  pod b(in_, "b", long_ttl);
  for (pod* const one : {&a, &b}) {
    one->start_guard({}, own_namespace);
    one->start_agent(own_namespace);
  }
  std::uint64_t newest = 0;
  for (int turn = 0; turn < turns; ++turn) {
    std::optional<stamped_run> run;
    ASSERT_TRUE(eventually([&] {
      for (const stamped_run& one : stamped_runs(in_)) {
        if (one.version > newest) run = one;
      }
      return run.has_value();
    })) << turn
        << " turns went well\n"
        << a.logs() << b.logs();
    newest = run->version;
    pod& holder = run->identity == "a" ? a : b;
    ::kill(children_of(holder.guard().pid()).front(), SIGTERM);
    EXPECT_EQ(holder.guard().wait(), 128 + SIGTERM) << "as its command";
    holder.start_guard({}, own_namespace);
  }
}

/// Neither a change in the election nor a guard that restarts causes a release.
TEST_F(GuardSocket, WhatMayBeLeftKeepsItsLeaseWhoeverComes) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for a cgroup";
  const own_cgroup cgroup("guard-socket");
  if (!cgroup.missing().empty()) GTEST_SKIP() << cgroup.missing();
  const std::string daemon = (in_ / "daemon").string();
  pod a(in_, "a", long_ttl);
  a.start_guard({"sh", "-c",
                 "env -i setsid sleep 1000 & echo $! > " + daemon + "; exec " + stamper_binary() +
                     " " + in_.path().string()},
                {"sh", "-c", "echo $$ > " + cgroup.procs() + " && exec \"$@\"", "join"});
  a.start_agent();
  ASSERT_TRUE(runs_as(in_, "a")) << a.logs();
  pod b(in_, "b", long_ttl);
  b.start();
  ASSERT_TRUE(b.knows_holder("a"));
  pid_t left = 0;
  ASSERT_TRUE(std::ifstream(daemon) >> left);
  ASSERT_TRUE(eventually([&] { return name_of(left) == "sleep"; }));
  // An agent that sees its guard's end before the kernel has taken the guard's children away finds
  // the daemon among them, and kills it. This one looks later.
  a.agent().send(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return is_stopped(a.agent().pid()); }));
  pod::end(a.guard(), SIGKILL);
  a.agent().send(SIGCONT);
  ASSERT_TRUE(eventually([&] { return a.agent().said("may have come out of the workload"); }))
      << a.logs();
  a.start_guard();
  pod c(in_, "c", long_ttl);
  c.start();
  ASSERT_TRUE(c.knows_holder("a")) << a.logs() << c.logs();
  for (int i = 0; i < 20; ++i) {
    const finished now = run(
        {tenure_binary(), "verify", "test", "--version", "1", "--fresh", "--api", c.agent().api()},
        in_);
    ASSERT_EQ(now.status, 0) << now.out << now.err << a.logs();
  }
  EXPECT_TRUE(is_alive(left));
  ::kill(left, SIGKILL);
}

TEST_F(GuardSocket, WorkloadGoesOnWhileSomebodyElseHasTheAgentsPort) {
  pod a(in_, "a", short_ttl);
  a.start();
  ASSERT_TRUE(runs_as(in_, "a")) << a.logs();
  const pid_t workload = a.workload().value_or(0);
  const std::string api = a.agent().api();
  const std::string at = api.substr(api.find("127."));
  a.agent().send(SIGKILL);
  a.agent().wait();
  std::optional<taken_port> taken(std::in_place, at);
  ASSERT_TRUE(taken->is_taken());
  a.start_agent({}, at);
  ASSERT_TRUE(eventually([&] { return a.agent().said("this agent tries again"); })) << a.logs();
  ASSERT_TRUE(eventually([&] { return a.agent().said("state=active"); })) << a.logs();
  taken.reset();
  EXPECT_TRUE(eventually([&] { return a.agent().said("msg=listening"); })) << a.logs();
  EXPECT_TRUE(is_alive(workload)) << a.logs();
  EXPECT_EQ(stamped_runs(in_).size(), 1U) << a.logs();

  // Nothing runs for the next agent to keep.
  a.agent().send(SIGKILL);
  a.agent().wait();
  a.guard().send(SIGTERM);
  a.guard().wait();
  taken.emplace(at);
  a.start_agent({}, at);
  EXPECT_EQ(a.agent().wait(), 1) << a.logs();
}

TEST_F(GuardSocket, OneDirectoryIsForOneGuardAndOneAgent) {
  pod a(in_, "a", long_ttl);
  a.start();
  ASSERT_TRUE(runs_as(in_, "a")) << a.logs();
  const finished second =
      run({tenure_binary(), "guard", "--dir", a.directory(), "--", "true"}, in_);
  EXPECT_EQ(second.status, 125);
  EXPECT_THAT(second.err, HasSubstr("another guard uses " + a.directory()));

  program other({tenure_binary(), "agent", "--store", "sqlite", "--endpoint", (in_ / "db").string(),
                 "--election", "test", "--identity", "x", "--guard-dir", a.directory(), "--listen",
                 "off", "--probe-listen", "off"},
                in_ / "other");
  EXPECT_TRUE(eventually([&] { return other.said("the guard has another agent"); })) << other.err();
}

TEST_F(GuardSocket, AgentOfAnotherUserComesInOnlyIfToldSo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const std::vector<std::string> nobody{"setpriv", "--reuid=65534", "--regid=65534",
                                        "--clear-groups"};
  ASSERT_EQ(::chown(in_.path().c_str(), 65534, 65534), 0);
  pod a(in_, "a", long_ttl);
  std::filesystem::create_directory(a.directory());
  std::filesystem::permissions(a.directory(), std::filesystem::perms(0777));
  a.start_guard({}, {}, {"--agent-uid", "65533"});
  a.start_agent(nobody);
  ASSERT_TRUE(eventually([&] {
    return a.agent().said("runs as user 0 and lets no agent of user 65534 in");
  })) << a.logs();
  EXPECT_FALSE(a.workload());
  pod::end(a.guard(), SIGTERM);

  a.start_guard({}, {}, {"--agent-uid", "65534"});
  ASSERT_TRUE(runs_as(in_, "a")) << a.logs();
}

/// As in a pod whose main container runs as the user of its image, whom nobody has named: each side
/// in a PID namespace of its own, without capabilities, in a volume that everybody can write to.
TEST_F(GuardSocket, AgentAndGuardOfTwoUsersMeetWhereInstallHasMadeAPlaceForThem) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const auto in_container_of = [](const std::string& user) {
    std::vector<std::string> out = own_namespace;
    out.insert(out.end(), {"setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups",
                           "--bounding-set=-all", "--no-new-privs"});
    return out;
  };
  // A process that changes its user is no longer told of its parent's death.
  const auto end_first = [](program& container, int signo) {
    ::kill(children_of(container.pid()).front(), signo);
    container.wait();
  };
  const std::vector<std::string> of_agent = in_container_of("65532");
  for (const std::string user : {"65534", "0"}) {
    const temporary_directory in;
    std::filesystem::permissions(in.path(), std::filesystem::perms(0777));
    const std::filesystem::path volume = in / "volume";
    std::filesystem::create_directories(volume);
    std::filesystem::permissions(volume, std::filesystem::perms(0777));
    const std::filesystem::path store = in / "store";
    std::filesystem::create_directories(store);
    ASSERT_EQ(::chown(store.c_str(), 65532, 65532), 0);

    std::vector<std::string> install = of_agent;
    install.insert(install.end(), {tenure_binary(), "install", volume.string(), "--guard-dir",
                                   (volume / "guard").string()});
    ASSERT_EQ(run(install, in).status, 0);
    const std::vector<std::string> command{stamper_for_all(in), in.path()};
    pod a(in, "a", long_ttl, volume / "guard", store / "db");
    a.start_guard(command, in_container_of(user), {"--agent-uid", "65532"});
    a.start_agent(of_agent);
    ASSERT_TRUE(runs_as(in, "a")) << user << a.logs();
    // A restart of either.
    end_first(a.agent(), SIGKILL);
    a.start_agent(of_agent);
    ASSERT_TRUE(eventually([&] { return a.agent().said("active again under version 1"); }))
        << user << a.logs();
    const auto first = stamped_runs(in).back().version;
    end_first(a.guard(), SIGTERM);
    a.start_guard(command, in_container_of(user), {"--agent-uid", "65532"});
    EXPECT_TRUE(runs_as(in, "a", first)) << user << a.logs();
    end_first(a.guard(), SIGTERM);
    end_first(a.agent(), SIGTERM);
    EXPECT_TRUE(never_two_at_once(stamped_runs(in)));
  }
}

/// As the kubelet starts a probe in the guard's container.
TEST_F(GuardSocket, ProbeIsAskedWhileTheWorkloadRunsAndNotSoonerThanItsDelay) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for a PID namespace";
  pod a(in_, "a", long_ttl);
  a.start_guard({}, own_namespace);
  const auto probe = [&](std::vector<std::string> words) {
    std::vector<std::string> all{"nsenter", "--pid", "--mount", "--target"};
    all.push_back(std::to_string(children_of(a.guard().pid()).front()));
    all.insert(all.end(), {tenure_binary(), "guard", "--probe"});
    all.insert(all.end(), words.begin(), words.end());
    return run(all, in_);
  };
  const std::vector<std::string> failing{"--", "sh", "-c", "exit 7"};
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(a.directory() + "/guard.sock"); }));
  const finished on_standby = probe(failing);
  EXPECT_EQ(on_standby.status, 0) << on_standby.err;
  a.start_agent();
  ASSERT_TRUE(runs_as(in_, "a")) << a.logs();
  EXPECT_EQ(probe(failing).status, 7);
  EXPECT_EQ(probe({"--", "true"}).status, 0);
  EXPECT_EQ(probe({"--delay=1h", "--", "sh", "-c", "exit 7"}).status, 0);
  EXPECT_EQ(probe({"--delay=1ms", "--", "sh", "-c", "exit 7"}).status, 7);
  EXPECT_EQ(probe({"--", "/nowhere"}).status, 127);
  const finished elsewhere = run({tenure_binary(), "guard", "--probe", "--", "true"}, in_);
  EXPECT_EQ(elsewhere.status, 1);
  EXPECT_THAT(elsewhere.err, HasSubstr("process 1 is not the guard"));
}

TEST_F(GuardSocket, GuardInAnotherTimeNamespaceIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for a time namespace";
  pod a(in_, "a", long_ttl);
  pod b(in_, "b", long_ttl);
  a.start_guard({}, {"unshare", "--time", "--boottime", "-60", "--fork", "--kill-child"});
  a.start_agent();
  ASSERT_TRUE(eventually([&] { return a.agent().said("no guard; not campaigning"); })) << a.logs();
  ASSERT_TRUE(eventually([&] { return a.agent().said("a time namespace of its own"); }))
      << a.logs();
  b.start();
  ASSERT_TRUE(runs_as(in_, "b")) << "the lease was free" << b.logs();
  ASSERT_TRUE(a.knows_holder("b")) << a.logs();
}

TEST_F(GuardSocket, GuardThatIsToldToEndWhileNothingRunsIsDone) {
  pod a(in_, "a", long_ttl);
  a.start_guard();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(a.directory() + "/guard.sock"); }));
  EXPECT_EQ(pod::end(a.guard(), SIGTERM), 0);
}

TEST_F(GuardSocket, CommandThatCannotBeExecutedEndsTheContainerAsShellsDo) {
  pod a(in_, "a", long_ttl);
  const std::filesystem::path program = in_ / "program";
  std::filesystem::copy("/bin/true", program);
  a.start_guard({program.string()});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(a.directory() + "/guard.sock"); }));
  std::filesystem::remove(program);
  a.start_agent();
  EXPECT_EQ(a.guard().wait(), 127) << a.logs();
  EXPECT_TRUE(eventually([&] { return a.agent().said("cannot execute the command"); }));
}

}  // namespace
}  // namespace tenure::tests
