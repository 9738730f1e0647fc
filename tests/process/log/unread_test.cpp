#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "harness.hpp"
#include "support/stuck_output.hpp"

/// A log never ends or stops anybody: members whose stderr cannot be written.
namespace tenure::tests {
namespace {

using base::unique_fd;

/// Only a release can move such a lease within the patience of a test.
constexpr const char* long_ttl = "10m";

/// Starts a program without a stderr.
const std::vector<std::string> without_stderr{"sh", "-c", R"(exec "$@" 2>&-)", "sh"};

/// A pipe that a member has for its stderr, and its other end.
struct log_end {
  unique_fd of_member{};
  unique_fd of_reader{};

  /// The same pipe once more, for another reader or writer.
  [[nodiscard]] unique_fd again(int flags) const {
    const std::string path = "/proc/self/fd/" + std::to_string(of_member.get());
    return unique_fd(::open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC));
  }
  /// All that was written since the last call.
  [[nodiscard]] std::string read() const {
    std::string out;
    std::string piece(4096, '\0');
    for (ssize_t n = 0; (n = ::read(of_reader.get(), piece.data(), piece.size())) > 0;) {
      out.append(piece, 0, static_cast<std::size_t>(n));
    }
    return out;
  }
};

log_end a_pipe() {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {.of_member = unique_fd(ends[1]), .of_reader = unique_fd(ends[0])};
}

/// A member of the election "test", with a lease that does not run out.
class elector {
 public:
  elector(const temporary_directory& in, bool as_agent, const std::string& identity,
          std::vector<std::string> before = {}, std::optional<int> errors = {},
          const std::vector<std::string>& more = {})
      : in_(in) {
    if (!as_agent) {
      exec_ = std::make_unique<member>(in, member::options{.identity = identity,
                                                           .ttl = long_ttl,
                                                           .listen = "off",
                                                           .more = more,
                                                           .before = std::move(before),
                                                           .errors = errors});
      return;
    }
    std::vector<std::string> words = std::move(before);
    words.insert(words.end(), {tenure_binary(), "agent", "--store", "sqlite", "--endpoint",
                               in / "db", "--election", "test", "--identity", identity, "--ttl",
                               long_ttl, "--listen", "off", "--probe-listen", "off"});
    // Nobody needs it here: a workload that is only told gets this long after it was.
    words.insert(words.end(), {"--grace", "100ms"});
    words.insert(words.end(), more.begin(), more.end());
    agent_ = std::make_unique<program>(words, in / identity, std::vector<std::string>{}, errors);
  }

  program& process() { return exec_ ? exec_->process() : *agent_; }

  /// The exit status of `tenure VERB WORDS`, asked of this member.
  [[nodiscard]] int ask(std::vector<std::string> words) const {
    const auto pid = exec_ ? exec_->agent() : agent_->pid();
    if (!pid) return -1;
    words.insert(words.begin(), tenure_binary());
    words.insert(words.end(), {"--api", "unix:" + (in_ / "agents").string() + "/" +
                                            std::to_string(*pid) + ".sock"});
    return run(words, in_).status;
  }
  [[nodiscard]] bool becomes(const std::string& state) const {
    return eventually(
        [&] { return ask({"wait", "test", "--for", state, "--timeout", "5s"}) == 0; });
  }
  [[nodiscard]] int resigns() const { return ask({"resign", "test", "--aside", "0s"}); }

 private:
  const temporary_directory& in_;
  std::unique_ptr<member> exec_;
  std::unique_ptr<program> agent_;
};

class Unread : public ::testing::TestWithParam<std::tuple<bool, output_that>> {
 protected:
  void SetUp() override {
    if (!log_.missing().empty()) GTEST_SKIP() << log_.missing();
  }
  /// What waits there would outlive the test.
  void TearDown() override { log_.go_on(); }

  /// Who hangs in the kernel does not end before that lets go, by whatever signal.
  void let_go_of_the_kernel() {
    if (std::get<1>(GetParam()) == output_that::is_on_a_hung_mount) log_.go_on();
  }

  elector start(const std::vector<std::string>& more = {}) const {
    const bool is_closed = log_.fd() < 0;
    return {in_,       as_agent_, "a", is_closed ? without_stderr : std::vector<std::string>{},
            log_.fd(), more};
  }

  const bool as_agent_ = std::get<0>(GetParam());
  temporary_directory in_;
  stuck_output log_{std::get<1>(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(
    By, Unread,
    ::testing::Combine(::testing::Bool(),
                       ::testing::Values(output_that::has_lost_its_peer,
                                         output_that::has_lost_its_reader,
                                         output_that::is_a_deaf_socket, output_that::is_a_full_pipe,
                                         output_that::is_a_stopped_terminal,
                                         output_that::is_on_a_full_disk,
                                         output_that::is_on_a_hung_mount, output_that::is_closed)),
    [](const auto& one) {
      return std::string(std::get<0>(one.param) ? "Agent" : "Exec") + name(std::get<1>(one.param));
    });

TEST_P(Unread, MemberHoldsResignsCampaignsAgainAndReleasesAtItsEnd) {
  elector a = start();
  ASSERT_TRUE(a.becomes("active"));
  elector b(in_, as_agent_, "b");
  ASSERT_TRUE(b.becomes("holder=a"));
  log_.lose_reader();

  EXPECT_EQ(a.resigns(), 0);
  ASSERT_TRUE(b.becomes("active"));
  ASSERT_TRUE(a.becomes("holder=b"));
  b.process().send(SIGTERM);
  b.process().wait();
  ASSERT_TRUE(a.becomes("active"));

  elector c(in_, as_agent_, "c");
  ASSERT_TRUE(c.becomes("holder=a"));
  a.process().send(SIGTERM);
  EXPECT_TRUE(c.becomes("active"));
  let_go_of_the_kernel();
  EXPECT_EQ(a.process().wait(), as_agent_ ? 0 : 143);
  EXPECT_TRUE(never_two_at_once(stamped_runs(in_)));
}

TEST_P(Unread, WrongSettingsEndTheAgentWithTheirStatus) {
  log_.lose_reader();
  elector a = start({"--renew", "20m"});
  let_go_of_the_kernel();
  EXPECT_EQ(a.process().wait(), 2);
}

/// A member that loses its lease while nobody reads its log. The guard writes to that log, too.
class UnreadLoss : public ::testing::TestWithParam<output_that> {
 protected:
  void SetUp() override {
    if (!log_.missing().empty()) GTEST_SKIP() << log_.missing();
  }
  void TearDown() override {
    log_.go_on();
    EXPECT_TRUE(never_two_at_once(stamped_runs(in_)));
  }

  [[nodiscard]] std::vector<std::string> deaf() const {
    return {stamper_binary(), in_.path(), "stubborn"};
  }
  /// Another member, which takes the lease over when it runs out.
  [[nodiscard]] std::unique_ptr<member> standby() const {
    auto out = std::make_unique<member>(in_, member::options{.identity = "b", .ttl = "2s"});
    EXPECT_TRUE(eventually([&] { return out->process().said("holder=a"); }));
    return out;
  }

  temporary_directory in_;
  stuck_output log_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Of, UnreadLoss,
                         ::testing::Values(output_that::is_a_full_pipe,
                                           output_that::is_a_deaf_socket,
                                           output_that::is_a_stopped_terminal,
                                           output_that::is_on_a_hung_mount),
                         [](const auto& one) { return name(one.param); });

TEST_P(UnreadLoss, GuardStartsAnotherAgentAndKillsInTimeForOneThatIsStopped) {
  member a(in_, {.identity = "a", .command = deaf(), .errors = log_.fd()});
  ASSERT_TRUE(runs_as(in_, "a"));
  const auto b = standby();
  // As the killer of a machine without memory does: the guard says so, and goes on.
  const pid_t first = a.agent().value_or(0);
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  if (GetParam() != output_that::is_on_a_hung_mount) {
    pid_t second = first;
    ASSERT_TRUE(eventually([&] { return (second = a.agent().value_or(first)) != first; }));
    ASSERT_EQ(::kill(second, SIGSTOP), 0);
  }
  EXPECT_TRUE(runs_as(in_, "b"));
}

TEST_P(UnreadLoss, GuardInAContainerOfItsOwnKillsInTime) {
  const std::string shared = in_ / "shared";
  std::vector<std::string> words{tenure_binary(), "guard", "--dir", shared, "--"};
  const std::vector<std::string> command = deaf();
  words.insert(words.end(), command.begin(), command.end());
  const program guard(words, in_ / "guard", {}, log_.fd());
  program agent({tenure_binary(), "agent", "--store", "sqlite", "--endpoint", in_ / "db",
                 "--election", "test", "--identity", "a", "--ttl", "2s", "--guard-dir", shared,
                 "--listen", "off", "--probe-listen", "off"},
                in_ / "agent");
  ASSERT_TRUE(runs_as(in_, "a")) << agent.err();
  const auto b = standby();
  agent.send(SIGKILL);
  EXPECT_TRUE(runs_as(in_, "b"));
}

TEST(ClosedStderr, NothingOfOursGetsTheNumberOfAClosedStderr) {
  const temporary_directory in;
  member a(in, {.ttl = long_ttl, .before = without_stderr});
  ASSERT_TRUE(eventually([&] { return a.agent() && a.workload(); }));
  for (const pid_t pid : {a.process().pid(), *a.agent(), *a.workload()}) {
    EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/fd/2"), "/dev/null");
  }
}

/// In the background of its terminal, where `stty tostop` stops who writes.
TEST(Background, LogDoesNotStopAnAgentThere) {
  const temporary_directory in;
  int terminal = -1;
  const pid_t guard = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (guard == 0) {
    termios how{};
    ::tcgetattr(STDIN_FILENO, &how);
    how.c_lflag |= TOSTOP;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &how);
    const std::string db = in / "db";
    const std::string stamps = in.path();
    ::setenv("TENURE_RUNTIME_DIR", (in / "agents").c_str(), 1);
    ::execl(tenure_binary().c_str(), "tenure", "exec", "--store", "sqlite", "--endpoint",
            db.c_str(), "--election", "test", "--identity", "a", "--listen", "off",
            "--probe-listen", "off", "--", stamper_binary().c_str(), stamps.c_str(), nullptr);
    ::_exit(127);
  }
  const unique_fd keeps(terminal);
  EXPECT_TRUE(runs_as(in, "a"));
  ::kill(guard, SIGTERM);
  int status = 0;
  const bool ends = eventually([&] { return ::waitpid(guard, &status, WNOHANG) == guard; });
  if (!ends) ::kill(guard, SIGKILL);
  EXPECT_TRUE(ends && WEXITSTATUS(status) == 143) << status;
}

TEST(NotAnAgent, CommandThatDoesNotLiveOnEndsBySigpipeAsOthersDo) {
  const temporary_directory in;
  log_end its = a_pipe();
  its.of_reader = unique_fd();
  program command({tenure_binary(), "status", "--api", "unix:/nowhere"}, in / "status", {},
                  its.of_member.get());
  EXPECT_EQ(command.wait(), 128 + SIGPIPE);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream all(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(all, line);) out.push_back(line);
  return out;
}

class UnreadForAWhile : public ::testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(By, UnreadForAWhile, ::testing::Bool(),
                         [](const auto& one) { return std::string(one.param ? "Agent" : "Exec"); });

/// Lines are counted in one line, and all lines are whole.
void expect_one_count(const std::string& log) {
  int counts = 0;
  for (const std::string& line : lines_of(log)) {
    EXPECT_THAT(line, testing::MatchesRegex("time=[-0-9T:.]+Z level=[a-z]+ msg=.*"));
    if (!line.contains("missing here")) continue;
    ++counts;
    EXPECT_THAT(line, testing::MatchesRegex(".*level=warn msg=\"[0-9]+ lines are missing here: "
                                            "this log could not be written: .*\" lost=[0-9]+"));
  }
  EXPECT_EQ(counts, 1) << log;
}

TEST_P(UnreadForAWhile, ReaderThatComesBackHearsHowManyLinesItHasMissed) {
  const temporary_directory in;
  log_end its = a_pipe();
  elector a(in, GetParam(), "a", {}, its.of_member.get());
  ASSERT_TRUE(a.becomes("active"));
  its.of_reader = unique_fd();
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(a.resigns(), 0);
    ASSERT_TRUE(a.becomes("active"));
  }
  its.of_reader = its.again(O_RDONLY);
  ASSERT_EQ(a.resigns(), 0);
  std::string log;
  EXPECT_TRUE(eventually([&] {
    log += its.read();
    return log.contains("state=active");
  })) << log;
  expect_one_count(log.substr(0, log.rfind('\n') + 1));
}

TEST_P(UnreadForAWhile, SoDoesTheFileOfADiskThatWasFull) {
  const temporary_directory in;
  // Only the log is as large as a file may be here.
  constexpr rlim_t limit = 64ULL << 20;
  ::close(::open((in / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::truncate((in / "log").c_str(), limit), 0);
  const unique_fd to(::open((in / "log").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  elector a(in, GetParam(), "a", {"prlimit", "--fsize=" + std::to_string(limit) + ":unlimited"},
            to.get());
  ASSERT_TRUE(a.becomes("active"));
  ASSERT_EQ(a.resigns(), 0);
  ASSERT_TRUE(a.becomes("active"));
  ASSERT_EQ(std::filesystem::file_size(in / "log"), limit);
  ASSERT_EQ(::truncate((in / "log").c_str(), 0), 0);
  ASSERT_EQ(a.resigns(), 0);
  const auto all = [&] {
    std::ifstream file(in / "log");
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  };
  EXPECT_TRUE(eventually([&] { return all().contains("state=active"); })) << all();
  expect_one_count(all());
}

}  // namespace
}  // namespace tenure::tests
