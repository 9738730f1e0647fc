#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <unistd.h>

#include <string_view>

#include "base/unique_fd.hpp"
#include "stage.hpp"

namespace tenure::tests {
namespace {

/// A terminal, and the command prefix that makes it the guard's controlling terminal.
class terminal {
 public:
  terminal() {
    int master = -1;
    int slave = -1;
    char name[64] = {};
    EXPECT_EQ(::openpty(&master, &slave, name, nullptr, nullptr), 0);
    master_.reset(master);
    slave_.reset(slave);
    name_ = name;
  }

  [[nodiscard]] stage::prefix prefix() const {
    return {"sh", "-c", "exec setsid --ctty \"$@\" < " + name_, "sh"};
  }
  void type(std::string_view keys) const {
    EXPECT_EQ(::write(master_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void close() { master_.reset(); }
  [[nodiscard]] pid_t foreground() const { return ::tcgetpgrp(master_.get()); }

 private:
  base::unique_fd master_;
  base::unique_fd slave_;
  std::string name_;
};

TEST(GuardTerminal, IsTheWorkloadsWhileItRunsAndTheGuardsAfterwards) {
  const terminal tty;
  stage s(stage::shell("read line; echo \"$line\" > $DIR/line; exit 5"), tty.prefix());
  auto agent = s.agent();
  EXPECT_EQ(tty.foreground(), s.guard());
  const pid_t leader = agent.start(7);
  EXPECT_EQ(tty.foreground(), leader);
  tty.type("hello\n");
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(5 << 8));
  EXPECT_EQ(s.read("line"), "hello\n");
  EXPECT_EQ(tty.foreground(), s.guard());
}

TEST(GuardTerminal, CtrlCOnAStandbyIsForTheGuardAlone) {
  const terminal tty;
  stage s(stage::shell("true"), tty.prefix());
  auto agent = s.agent();
  tty.type("\x03");
  EXPECT_EQ(agent.hear(), "signalled " + std::to_string(SIGINT));
  EXPECT_TRUE(runs(agent.pid()));
}

TEST(GuardTerminal, IsGoneAndSoTheGuardAsksToEnd) {
  terminal tty;
  stage s(stage::shell("true"), tty.prefix());
  auto agent = s.agent();
  tty.close();
  EXPECT_EQ(agent.hear(), "signalled " + std::to_string(SIGHUP));
}

TEST(GuardTerminal, IsThereSoSighupIsForTheWorkload) {
  const terminal tty;
  stage s(stage::shell("trap 'exit 5' HUP; touch $DIR/up; while :; do sleep 0.01; done"),
          tty.prefix());
  auto agent = s.agent();
  ::kill(s.guard(), SIGHUP);
  agent.start(7);
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  ::kill(s.guard(), SIGHUP);
  EXPECT_EQ(agent.hear(), "exited " + std::to_string(5 << 8));
}

TEST(GuardTerminal, CtrlZDoesNotLeaveTheWorkloadStopped) {
  const terminal tty;
  stage s(stage::shell("trap 'touch $DIR/continued' CONT; touch $DIR/up; "
                       "while :; do read line; done"),
          tty.prefix());
  auto agent = s.agent();
  agent.start(7);
  EXPECT_TRUE(eventually([&] { return s.has("up"); }));
  tty.type("\x1a");
  EXPECT_TRUE(eventually([&] { return s.has("continued"); }));
}

}  // namespace
}  // namespace tenure::tests
