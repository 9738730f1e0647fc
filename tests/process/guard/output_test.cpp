#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <memory>
#include <string>
#include <thread>
#include <tuple>

#include "guard/log_writer.hpp"
#include "stage.hpp"
#include "support/process_name.hpp"
#include "support/stuck_output.hpp"

/// A guard whose log nobody takes.
namespace tenure::tests {
namespace {

enum class agent_that : std::uint8_t { lives, is_killed, is_stopped };

std::string name(agent_that state) {
  return state == agent_that::lives       ? "AgentLives"
         : state == agent_that::is_killed ? "AgentKilled"
                                          : "AgentStopped";
}

class GuardOutput : public testing::TestWithParam<std::tuple<output_that, agent_that>> {};

TEST_P(GuardOutput, DoesNotKeepItFromKillingInTime) {
  const auto [kind, state] = GetParam();
  stuck_output log(kind);
  if (!log.missing().empty()) GTEST_SKIP() << log.missing();
  log.lose_reader();
  stage s(
      stage::shell("exec 2>/dev/null; trap '' TERM; touch $DIR/up; while :; do sleep 0.01; done"),
      {}, log.fd());
  auto agent = s.agent();
  const pid_t leader = agent.start(7, s.mark());
  ASSERT_TRUE(eventually([&] { return s.has("up"); }));
  agent.tell("arm 7 600 300");
  agent.tell("acknowledged");
  agent.hear("acknowledged");
  if (state == agent_that::is_killed) ASSERT_EQ(::kill(agent.pid(), SIGKILL), 0);
  if (state == agent_that::is_stopped) ASSERT_EQ(::kill(agent.pid(), SIGSTOP), 0);
  EXPECT_TRUE(eventually([&] { return !runs(leader) && s.marked().empty(); }));
  if (state == agent_that::is_stopped) ASSERT_EQ(::kill(agent.pid(), SIGCONT), 0);
  if (state != agent_that::is_killed) {
    EXPECT_EQ(agent.hear(), "exited " + std::to_string(SIGKILL));
    agent.tell("bye 17");
  } else {
    s.agent().tell("bye 17");
  }
  EXPECT_EQ(s.end(), 17) << "nor from ending";
  // Else what waits there would outlive the stage.
  log.go_on();
}

INSTANTIATE_TEST_SUITE_P(
    Each, GuardOutput,
    testing::Combine(
        testing::Values(output_that::is_a_full_pipe, output_that::has_lost_its_reader,
                        output_that::is_a_deaf_socket, output_that::has_lost_its_peer,
                        output_that::is_a_stopped_terminal, output_that::is_on_a_full_disk,
                        output_that::is_on_a_hung_mount, output_that::is_closed),
        testing::Values(agent_that::lives, agent_that::is_killed, agent_that::is_stopped)),
    [](const auto& with) { return name(std::get<0>(with.param)) + name(std::get<1>(with.param)); });

/// What waits for the log in the guard's place, in a process that has this stderr.
class LogWriter : public testing::TestWithParam<output_that> {
 protected:
  void SetUp() override {
    if (!log_.missing().empty()) GTEST_SKIP() << log_.missing();
  }

  /// Runs `act` with a writer, in a child whose stderr nobody takes. Returns what it returns.
  template <class Act>
  int in_a_child(Act act) {
    const pid_t child = ::fork();
    if (child == 0) {
      sigset_t all;
      ::sigfillset(&all);
      ::sigprocmask(SIG_SETMASK, &all, nullptr);
      ::dup2(log_.fd(), STDERR_FILENO);
      guard::log_writer writer;
      if (writer.open() != 0) ::_exit(101);
      ::_exit(act(writer));
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  stuck_output log_{GetParam()};
};

TEST_P(LogWriter, RefusesLinesAndLosesNoneThatItHasTaken) {
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const base::unique_fd read_end(ready[0]);
  base::unique_fd write_end(ready[1]);
  bool goes_on = false;
  const auto writes = [&](guard::log_writer& writer) {
    int taken = 0;
    constexpr int more_than_fit = 100'000;
    while (taken < more_than_fit && writer.write("line " + std::to_string(taken) + "\n")) ++taken;
    if (::write(write_end.get(), &taken, sizeof taken) != sizeof taken) return 102;
    // It is full until somebody reads, and then takes another one.
    while (!writer.write("the last\n")) ::poll(nullptr, 0, 1);
    writer.close();
    return 0;
  };
  int taken = 0;
  std::jthread reader([&] {
    ASSERT_EQ(::read(read_end.get(), &taken, sizeof taken), static_cast<ssize_t>(sizeof taken));
    log_.go_on();
    goes_on = eventually([&] { return log_.text().ends_with("the last\n"); });
  });
  EXPECT_EQ(in_a_child(writes), 0);
  reader.join();
  EXPECT_TRUE(goes_on);
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, 100'000);
  std::string all;
  for (int i = 0; i < taken; ++i) all += "line " + std::to_string(i) + "\n";
  EXPECT_EQ(log_.text(), all + "the last\n");
}

TEST_P(LogWriter, ThatWasKilledIsReplaced) {
  const auto writes = [](guard::log_writer& writer) {
    if (!writer.write("one\n")) return 103;
    const pid_t before = writer.process().pid();
    ::kill(before, SIGKILL);
    // A process that hangs at the log is killed only when that lets go.
    for (int tries = 0; tries < 1000; ++tries) {
      if (writer.write("two\n") && writer.process().pid() != before) return 0;
      ::poll(nullptr, 0, 1);
    }
    return 104;
  };
  if (GetParam() == output_that::is_on_a_hung_mount) log_.go_on();
  EXPECT_EQ(in_a_child(writes), 0);
}

INSTANTIATE_TEST_SUITE_P(Each, LogWriter,
                         testing::Values(output_that::is_a_full_pipe, output_that::is_a_deaf_socket,
                                         output_that::is_a_stopped_terminal,
                                         output_that::is_on_a_hung_mount),
                         [](const auto& with) { return name(with.param); });

}  // namespace
}  // namespace tenure::tests
