#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "stage.hpp"
#include "support/own_cgroup.hpp"
#include "support/sanitized.hpp"

/// A guard that has nothing left to do anything with.
namespace tenure::tests {
namespace {

const std::string deaf = "trap '' TERM; touch $DIR/up; while :; do sleep 0.01; done";

/// A control group of version 1 with a limit. Removed once it is empty.
class limited {
 public:
  limited(const std::string& controller, const std::string& file, const std::string& most) {
    const std::string mount = cgroup_mount(controller);
    if (mount.empty()) return;
    path_ = mount + "/tenure-limit-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) return;
    is_there_ = static_cast<bool>(std::ofstream(path_ + "/" + file) << most << std::flush);
  }
  ~limited() {
    if (!path_.empty())
      eventually([this] { return ::rmdir(path_.c_str()) == 0 || errno == ENOENT; });
  }
  limited(const limited&) = delete;
  limited& operator=(const limited&) = delete;

  [[nodiscard]] bool is_there() const { return is_there_; }
  [[nodiscard]] bool take(pid_t one) const {
    return static_cast<bool>(std::ofstream(path_ + "/cgroup.procs") << one << std::flush);
  }

 private:
  std::string path_;
  bool is_there_ = false;
};

/// Its agent is killed, nobody renews, and another agent cannot be started.
void expect_killed_in_time(stage& s, agent_line& agent, pid_t leader) {
  ASSERT_EQ(::kill(agent.pid(), SIGKILL), 0);
  EXPECT_TRUE(eventually([&] { return !runs(leader) && s.marked().empty(); }));
}

void arm_soon(agent_line& agent) {
  agent.tell("arm 7 900 600");
  agent.tell("acknowledged");
  agent.hear("acknowledged");
}

TEST(GuardAtItsLimit, KillsWithoutAnotherProcess) {
  const limited one("pids", "pids.max", "1");
  if (!one.is_there()) GTEST_SKIP() << "no control group of version 1 can limit processes here";
  stage s(stage::shell(deaf));
  auto agent = s.agent();
  const pid_t leader = agent.start(7, s.mark());
  ASSERT_TRUE(eventually([&] { return s.has("up"); }));
  ASSERT_TRUE(one.take(s.guard()));
  arm_soon(agent);
  expect_killed_in_time(s, agent, leader);
  EXPECT_TRUE(s.read("stderr").contains("cannot fork the agent")) << s.read("stderr");
}

TEST(GuardAtItsLimit, KillsWithoutAnotherDescriptor) {
  if (sanitized) GTEST_SKIP() << "the undefined-behaviour sanitizer needs descriptors";
  stage s(stage::shell(deaf));
  auto agent = s.agent();
  const pid_t leader = agent.start(7, s.mark());
  ASSERT_TRUE(eventually([&] { return s.has("up"); }));
  constexpr rlimit none{.rlim_cur = 3, .rlim_max = 3};
  ASSERT_EQ(::prlimit(s.guard(), RLIMIT_NOFILE, &none, nullptr), 0);
  arm_soon(agent);
  expect_killed_in_time(s, agent, leader);
  EXPECT_TRUE(s.read("stderr").contains("check the limits on open files")) << s.read("stderr");
}

TEST(GuardAtItsLimit, KillsWhileItsMemoryIsUsedUpAgainAndAgain) {
  const limited memory("memory", "memory.limit_in_bytes", "33554432");
  if (!memory.is_there()) GTEST_SKIP() << "no control group of version 1 can limit memory here";
  stage s(
      stage::shell("trap '' TERM; touch $DIR/up; while :; do tail /dev/zero 2>/dev/null; done"));
  auto agent = s.agent();
  ASSERT_TRUE(memory.take(s.guard()));
  const pid_t leader = agent.start(7, s.mark());
  ASSERT_TRUE(eventually([&] { return s.has("up"); }));
  arm_soon(agent);
  expect_killed_in_time(s, agent, leader);
}

/// As in most containers: not root, and 8 MB may be locked, which is less than the program maps.
TEST(GuardMemory, IsLockedAlsoWhereTheLimitIsSmallerThanTheProgram) {
  stage s(stage::shell("exec sleep 1000"),
          {"setpriv", "--inh-caps=-ipc_lock", "--bounding-set=-ipc_lock", "prlimit",
           "--memlock=6291456:6291456"});
  auto agent = s.agent();
  std::ifstream status("/proc/" + std::to_string(s.guard()) + "/status");
  long locked_kb = 0;
  long mapped_kb = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmLck:")) locked_kb = std::stol(line.substr(6));
    if (line.starts_with("VmSize:")) mapped_kb = std::stol(line.substr(7));
  }
  ASSERT_GT(mapped_kb, 6144) << "else all of it would be locked";
  EXPECT_GT(locked_kb, 1024);
}

}  // namespace
}  // namespace tenure::tests
