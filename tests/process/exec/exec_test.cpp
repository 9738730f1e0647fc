#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "harness.hpp"
#include "places.hpp"

namespace tenure::tests {
namespace {

using namespace std::string_literals;

TEST(Exec, TheCommandSeesItsTermInItsEnvironment) {
  const temporary_directory in;
  member a(in, {.command = {"env"}});
  EXPECT_EQ(a.process().wait(), 0) << a.process().err();
  const std::string env = a.process().out();
  EXPECT_NE(env.find("TENURE_ELECTION=test\n"), std::string::npos) << env;
  EXPECT_NE(env.find("TENURE_IDENTITY=a\n"), std::string::npos);
  EXPECT_NE(env.find("TENURE_VERSION=1\n"), std::string::npos);
  EXPECT_NE(env.find("TENURE_SEQUENCER="), std::string::npos);
  EXPECT_NE(env.find("TENURE_SLOT=0\n"), std::string::npos);
  EXPECT_NE(env.find("TENURE_API=http://127.0.0.1:"), std::string::npos);
  EXPECT_EQ(env.find("TENURE_GUARD_FDS"), std::string::npos);
  EXPECT_EQ(env.find("TENURE_SESSION"), std::string::npos);
}

TEST(Exec, TheVariablesOfTheAwaitElectionWrapperAreRead) {
  const temporary_directory in;
  const finished done =
      run({tenure_binary(), "exec", "--store", "sqlite", "--endpoint", in / "db", "--listen", "off",
           "--probe-listen", "off", "--", "env"},
          in, {"K8S_AWAIT_ELECTION_ENABLED=1", "K8S_AWAIT_ELECTION_LOCK_NAME=controller"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_NE(done.out.find("TENURE_ELECTION=controller\n"), std::string::npos) << done.out;
}

class ExecOnServer : public ::testing::TestWithParam<place> {};

TEST_P(ExecOnServer, ACommandThatWasWrittenForTheStoresOwnLockFindsItsVariables) {
  if (!GetParam().missing().empty()) GTEST_SKIP() << GetParam().missing();
  const temporary_directory in;
  const auto store = make_placed_store(GetParam(), in);
  member a(in,
           {.store = GetParam().kind, .endpoint = store->endpoint(), .command = {"sleep", "600"}});
  ASSERT_TRUE(eventually([&] { return a.is_active() && a.workload(); })) << a.process().err();
  std::ifstream file("/proc/" + std::to_string(*a.workload()) + "/environ");
  const std::string env((std::istreambuf_iterator<char>(file)), {});
  const auto value = [&env](const std::string& name) {
    const auto at = env.find('\0' + name + '=');
    return at == std::string::npos ? "" : std::string(env.c_str() + at + name.size() + 2);
  };
  EXPECT_NE(value("TENURE_VERSION"), "");
  if (GetParam().kind == "consul") {
    EXPECT_EQ(value("CONSUL_LOCK_HELD"), "true");
    EXPECT_EQ(value("TENURE_SEQUENCER").find("test/.lock@1@"), 0U) << value("TENURE_SEQUENCER");
    return;
  }
  EXPECT_EQ(value("ETCD_LOCK_KEY").find("test/"), 0U) << value("ETCD_LOCK_KEY");
  EXPECT_EQ(value("ETCD_LOCK_REV"), value("TENURE_VERSION"));
  EXPECT_EQ(value("ETCD_LOCK_KEY") + "@" + value("ETCD_LOCK_REV"), value("TENURE_SEQUENCER"));
}

INSTANTIATE_TEST_SUITE_P(On, ExecOnServer, ::testing::ValuesIn(server_places()),
                         [](const auto& one) { return one.param.name; });

struct ending {
  std::string name;
  std::vector<std::string> command;
  int status;
};

/// Used in the name of the test.
std::ostream& operator<<(std::ostream& out, const ending& e) {
  return out << e.status;
}

class ExecEnding : public ::testing::TestWithParam<ending> {};

TEST_P(ExecEnding, IsPassedOn) {
  const temporary_directory in;
  member a(in, {.command = GetParam().command});
  EXPECT_EQ(a.process().wait(), GetParam().status) << a.process().err();
}

INSTANTIATE_TEST_SUITE_P(Of, ExecEnding,
                         ::testing::Values(ending{"Success", {"true"}, 0},
                                           ending{"Failure", {"sh", "-c", "exit 7"}, 7},
                                           ending{"SIGKILL", {"sh", "-c", "kill -9 $$"}, 137},
                                           ending{"SIGTERM", {"sh", "-c", "kill -TERM $$"}, 143},
                                           // The agent and the guard ignore it.
                                           ending{"SIGPIPE", {"sh", "-c", "kill -PIPE $$"}, 141},
                                           ending{"NotFound", {"no-such-program-anywhere"}, 127},
                                           ending{"NotExecutable", {"/etc/passwd"}, 126}),
                         [](const auto& instance) { return instance.param.name; });

TEST(Exec, ACommandThatEndsGivesTheLeaseToTheNextAtOnce) {
  const temporary_directory in;
  // The TTL is longer than the patience of this test: only a release can explain the change.
  member a(in, {.identity = "a",
                .ttl = "10m",
                .command = {"sh", "-c", "read x < "s + (in / "go").string()}});
  ASSERT_EQ(::system(("mkfifo " + (in / "go").string()).c_str()), 0);
  ASSERT_TRUE(eventually([&] { return a.is_active() || a.process().said("ended"); }));
  member b(in, {.identity = "b", .ttl = "10m"});
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); })) << b.process().err();
  std::ofstream(in / "go") << "now\n";
  ASSERT_TRUE(runs_as(in, "b", 1)) << b.process().err();
}

TEST(Exec, TermIsPassedOnAndTheLeaseReleasedAfterTheDeath) {
  const temporary_directory in;
  member a(in, {.identity = "a", .ttl = "10m"});
  ASSERT_TRUE(runs_as(in, "a"));
  member b(in, {.identity = "b", .ttl = "10m"});
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); })) << b.process().err();
  a.process().send(SIGTERM);
  EXPECT_EQ(a.process().wait(), 143) << a.process().err();
  ASSERT_TRUE(runs_as(in, "b", 1)) << b.process().err();
  EXPECT_TRUE(never_two_at_once(stamped_runs(in)));
  EXPECT_TRUE(versions_grow(stamped_runs(in)));
}

TEST(Exec, AStubbornCommandIsKilledWhenItsDrainIsOver) {
  const temporary_directory in;
  member a(in,
           {.more = {"--drain", "300ms"}, .command = {stamper_binary(), in.path(), "stubborn"}});
  ASSERT_TRUE(runs_as(in, "a"));
  ASSERT_TRUE(eventually([&] { return a.is_active(); }));
  a.process().send(SIGTERM);
  EXPECT_EQ(a.process().wait(), 137) << a.process().err();
}

TEST(Exec, TermWhileWaitingEndsAtOnceWithoutEverStartingTheCommand) {
  const temporary_directory in;
  member a(in, {.identity = "a", .ttl = "10m"});
  ASSERT_TRUE(runs_as(in, "a"));
  member b(in, {.identity = "b", .ttl = "10m"});
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); }));
  b.process().send(SIGTERM);
  EXPECT_EQ(b.process().wait(), 0) << b.process().err();
  for (const stamped_run& r : stamped_runs(in)) EXPECT_EQ(r.identity, "a");
}

/// A program at a terminal of its own, whose window can be closed.
class at_terminal {
 public:
  explicit at_terminal(const std::vector<std::string>& words) {
    int master = -1;
    pid_ = ::forkpty(&master, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      std::vector<char*> argv;
      for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    master_.reset(master);
  }
  ~at_terminal() {
    if (!status_) ::kill(pid_, SIGKILL);
  }
  at_terminal(const at_terminal&) = delete;
  at_terminal& operator=(const at_terminal&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void close() { master_.reset(); }
  [[nodiscard]] bool has_ended() {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return status_.has_value();
  }
  /// What it has written so far contains these words.
  [[nodiscard]] bool says(const std::string& what) {
    return eventually([&] {
      char some[4096];
      pollfd one{.fd = master_.get(), .events = POLLIN, .revents = 0};
      while (::poll(&one, 1, 0) == 1) {
        const ssize_t got = ::read(master_.get(), some, sizeof some);
        if (got <= 0) break;
        said_.append(some, static_cast<std::size_t>(got));
      }
      return said_.contains(what);
    });
  }

 private:
  pid_t pid_ = 0;
  base::unique_fd master_;
  std::optional<int> status_;
  std::string said_;
};

TEST(Exec, StandbyEndsWithItsTerminal) {
  const temporary_directory in;
  member a(in, {.identity = "a"});
  ASSERT_TRUE(runs_as(in, "a")) << a.process().err();
  at_terminal b({tenure_binary(), "exec", "--store", "sqlite", "--endpoint", in / "db",
                 "--election", "test", "--identity", "b", "--runtime-dir", "off", "--listen", "off",
                 "--probe-listen", "off", "--", stamper_binary(), in.path()});
  ASSERT_TRUE(b.says("standing by behind a"));
  b.close();
  EXPECT_TRUE(eventually([&] { return b.has_ended(); }));
}

TEST(Agent, EndsWithItsTerminalAndDoesNotTakeSighupForAnEnd) {
  const temporary_directory in;
  at_terminal a({tenure_binary(), "agent", "--store", "sqlite", "--endpoint", in / "db",
                 "--election", "test", "--identity", "a", "--runtime-dir", "off", "--listen", "off",
                 "--probe-listen", "off", "--ttl", "10m"});
  ASSERT_TRUE(a.says("active under version"));
  ::kill(a.pid(), SIGHUP);
  ASSERT_TRUE(a.says("SIGHUP changes nothing"));
  a.close();
  EXPECT_TRUE(eventually([&] { return a.has_ended(); }));
  // It has released its lease.
  member b(in, {.identity = "b"});
  EXPECT_TRUE(runs_as(in, "b")) << b.process().err();
}

TEST(Exec, OtherSignalsReachTheCommand) {
  const temporary_directory in;
  const std::string script =
      "trap 'echo hup; exit 5' HUP; echo ready; while :; do sleep 0.01; done";
  member a(in, {.command = {"sh", "-c", script}});
  ASSERT_TRUE(eventually([&] { return a.process().out() == "ready\n"; })) << a.process().err();
  a.process().send(SIGHUP);
  EXPECT_EQ(a.process().wait(), 5);
  EXPECT_EQ(a.process().out(), "ready\nhup\n");
}

TEST(Exec, TheApiTellsTheHolderFromTheStandby) {
  const temporary_directory in;
  member a(in, {.identity = "a"});
  ASSERT_TRUE(eventually([&] { return a.is_active(); })) << a.process().err();
  member b(in, {.identity = "b"});
  const std::string path = "/v1/elections/test";
  ASSERT_TRUE(eventually([&] { return b.get(path).find("\"holder\":\"a\"") != std::string::npos; }))
      << b.get(path);
  EXPECT_NE(a.get(path).find("\"is_self\":true"), std::string::npos) << a.get(path);
  EXPECT_NE(a.get(path).find("\"state\":\"active\""), std::string::npos);
  EXPECT_NE(b.get(path).find("\"is_self\":false"), std::string::npos) << b.get(path);
  EXPECT_NE(b.get(path).find("\"version\":1"), std::string::npos);
  EXPECT_FALSE(b.is_active());
  EXPECT_EQ(b.get("/readyz").find("HTTP/1.1 200"), 0U) << b.get("/readyz");
  EXPECT_EQ(b.get("/livez").find("HTTP/1.1 200"), 0U) << b.get("/livez");
}

}  // namespace
}  // namespace tenure::tests
