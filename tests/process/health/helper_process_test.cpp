#include "process/helper_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <optional>
#include <ranges>

#include "base/file_limit.hpp"
#include "base/wall_time.hpp"
#include "harness.hpp"
#include "scene.hpp"

namespace tenure::guard {
namespace {

using tests::eventually;
using tests::is_alive;
using tests::temporary_directory;

/// One check, and the loop that it is part of.
struct one_check : tests::loop {
  explicit one_check(const process::check_task& what) {
    auto made = process::helper_process::start(
        io.get_executor(), what, [this](const process::check_outcome& how) {
          EXPECT_FALSE(outcome) << "a handler is called once";
          outcome = how;
        });
    EXPECT_TRUE(made) << made.error();
    if (made) process = std::move(*made);
    EXPECT_FALSE(outcome) << "a handler is not called from within the call";
  }
  explicit one_check(const std::string& script)
      : one_check(process::run_command{{"sh", "-c", script}}) {}

  template <class Outcome>
  Outcome ends_as() {
    EXPECT_TRUE(run_until([this] { return outcome.has_value(); })) << "no outcome at all";
    if (outcome && std::holds_alternative<Outcome>(*outcome)) return std::get<Outcome>(*outcome);
    ADD_FAILURE() << "another outcome: " << (outcome ? outcome->index() : 99);
    return {};
  }

  std::unique_ptr<process::helper_process> process;
  std::optional<process::check_outcome> outcome;
};

/// The id that a check's process has written to a file.
pid_t written_id(const std::filesystem::path& path) {
  pid_t id = 0;
  eventually([&] {
    std::ifstream file(path);
    std::string line;
    // Complete: the line end is there.
    if (!std::getline(file, line) || file.eof()) return false;
    id = static_cast<pid_t>(std::stoi(line));
    return true;
  });
  return id;
}

/// Processes killed by a destroyed check stay zombies until this process ends.
std::vector<pid_t> living_children() {
  std::vector<pid_t> all = tests::children_of(::getpid());
  std::erase_if(all, [](pid_t one) { return !tests::is_alive(one); });
  return all;
}

TEST(HelperProcess, CommandGetsTheLimitOfOpenFilesThatWeWereStartedWith) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{.rlim_cur = 512, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  ASSERT_EQ(base::raise_file_limit(600), 600u);
  one_check check("test \"$(ulimit -Sn)\" = 512");
  EXPECT_EQ(check.ends_as<process::command_ended>().status, 0);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST(HelperProcess, ExitStatusIsThatOfTheProgram) {
  EXPECT_EQ(one_check(process::run_command{{"true"}}).ends_as<process::command_ended>().status, 0);
  EXPECT_EQ(WEXITSTATUS(one_check("exit 3").ends_as<process::command_ended>().status), 3);
  EXPECT_EQ(WTERMSIG(one_check("kill -USR1 $$").ends_as<process::command_ended>().status), SIGUSR1);
}

TEST(HelperProcess, ProgramDiesOfTheSignalsThatWeIgnore) {
  for (const int signo : {SIGPIPE, SIGXFSZ}) {
    ::signal(signo, SIG_IGN);
    one_check c("kill -" + std::to_string(signo) + " $$");
    EXPECT_EQ(WTERMSIG(c.ends_as<process::command_ended>().status), signo);
    ::signal(signo, SIG_DFL);
  }
}

TEST(HelperProcess, ArgumentsAreNotReadByAShell) {
  const temporary_directory in;
  one_check c(process::run_command{{"touch", in / "a b; c $HOME"}});
  EXPECT_EQ(c.ends_as<process::command_ended>().status, 0);
  EXPECT_TRUE(std::filesystem::exists(in / "a b; c $HOME"));
}

TEST(HelperProcess, ProgramThatCannotBeExecutedIsToldFromOneThatFails) {
  EXPECT_EQ(one_check(process::run_command{{"no-such-program-anywhere"}})
                .ends_as<process::command_not_executed>()
                .error,
            ENOENT);
  EXPECT_EQ(one_check(process::run_command{{"/etc/passwd"}})
                .ends_as<process::command_not_executed>()
                .error,
            EACCES);
  EXPECT_EQ(WEXITSTATUS(one_check("exit 127").ends_as<process::command_ended>().status), 127);
}

TEST(HelperProcess, ProgramThatHangsIsKilledWithTheChildrenThatHangWithIt) {
  const temporary_directory in;
  const std::string child = in / "child";
  one_check c("trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > " + child +
              "; sleep 1000; sleep 1000' & wait");
  const pid_t id = written_id(child);
  ASSERT_GT(id, 0);
  c.process->kill();
  c.ends_as<process::check_killed>();
  EXPECT_FALSE(is_alive(id));
}

TEST(HelperProcess, DaemonThatACheckLeavesBehindIsDeadWhenTheCheckHasEnded) {
  const temporary_directory in;
  const std::string daemon = in / "daemon";
  one_check c("setsid sh -c 'echo $$ > " + daemon + "; exec sleep 1000' & while [ ! -s " + daemon +
              " ]; do :; done");
  EXPECT_EQ(c.ends_as<process::command_ended>().status, 0);
  const pid_t id = written_id(daemon);
  ASSERT_GT(id, 0);
  EXPECT_FALSE(is_alive(id));
}

TEST(HelperProcess, NothingIsLeftWhenItIsDestroyed) {
  const temporary_directory in;
  const std::string child = in / "child";
  one_check c("echo $$ > " + child + "; sleep 1000; sleep 1000");
  const pid_t id = written_id(child);
  ASSERT_GT(id, 0);
  c.process.reset();
  EXPECT_TRUE(eventually([&] { return !is_alive(id); }));
  c.io.run();
  EXPECT_FALSE(c.outcome) << "no handler is called after destruction";
}

TEST(HelperProcess, DeathOfTheAgentLeavesNothingOfACheckBehind) {
  const temporary_directory in;
  const std::string child = in / "child";
  const pid_t agent = ::fork();
  if (agent == 0) {
    one_check c("setsid sh -c 'echo $$ > " + child + "; exec sleep 1000' & sleep 1000; sleep 1000");
    c.io.run();
    ::_exit(1);
  }
  const pid_t id = written_id(child);
  ASSERT_GT(id, 0);
  ::kill(agent, SIGKILL);
  ::waitpid(agent, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return !is_alive(id); }));
}

TEST(HelperProcess, SignalsOfACheckAreNotTheAgents) {
  // An inherited handler in a child would write to state shared with its parent.
  one_check c("sleep 1000; sleep 1000");
  boost::asio::signal_set signals(c.io, SIGTERM, SIGINT);
  bool told = false;
  signals.async_wait([&](const boost::system::error_code& error, int) { told = told || !error; });
  std::vector<std::unique_ptr<one_check>> more;
  for (int i = 0; i < 20; ++i) {
    auto one = std::make_unique<one_check>("sleep 1000; sleep 1000");
    one->process->kill();
    one->ends_as<process::check_killed>();
  }
  c.process->kill();
  c.ends_as<process::check_killed>();
  c.io.poll();
  EXPECT_FALSE(told);
}

TEST(HelperProcess, DescriptorsOfTheAgentAreNotInherited) {
  const int kept = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  ASSERT_GT(kept, STDERR_FILENO);
  const std::string path = "/proc/$$/fd/" + std::to_string(kept);
  EXPECT_EQ(one_check("test ! -e " + path).ends_as<process::command_ended>().status, 0);
  ::close(kept);
}

TEST(HelperProcess, ManyLeaveNeitherDescriptorsNorChildren) {
  const auto descriptors = [] {
    return std::ranges::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                 std::filesystem::directory_iterator());
  };
  one_check first("exit 0");
  first.ends_as<process::command_ended>();
  first.process.reset();
  const auto before = descriptors();
  for (int i = 0; i < 50; ++i) {
    one_check c(i % 2 == 0 ? process::check_task(process::run_command{{"true"}})
                           : process::check_task(process::look_at_file{"/"}));
    EXPECT_TRUE(c.run_until([&] { return c.outcome.has_value(); }));
  }
  // The loop that each has had is gone by now, too.
  EXPECT_EQ(descriptors(), before);
  EXPECT_TRUE(living_children().empty());
}

TEST(HelperProcess, FileIsFoundWithTheTimeOfItsLastChange) {
  const temporary_directory in;
  std::ofstream(in / "ok") << "ok";
  const auto found = one_check(process::look_at_file{in / "ok"}).ends_as<process::file_found>();
  EXPECT_LT(std::abs(base::wall_now_ms() - found.modified_unix_ms), 60'000);
  const auto an_hour_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(in / "ok", an_hour_ago);
  const auto old = one_check(process::look_at_file{in / "ok"}).ends_as<process::file_found>();
  EXPECT_NEAR(static_cast<double>(found.modified_unix_ms - old.modified_unix_ms), 3'600'000,
              60'000);
}

TEST(HelperProcess, FileThatIsNotThereOrCannotBeReachedHasItsReason) {
  const temporary_directory in;
  EXPECT_EQ(one_check(process::look_at_file{in / "ok"}).ends_as<process::file_not_found>().error,
            ENOENT);
  std::ofstream(in / "ok") << "ok";
  EXPECT_EQ(
      one_check(process::look_at_file{in / "ok" / "x"}).ends_as<process::file_not_found>().error,
      ENOTDIR);
}

}  // namespace
}  // namespace tenure::guard
