// The examples of a worker that checks the lease before each write, run by the shipped binary.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include "harness.hpp"

namespace tenure::tests {
namespace {

/// One of docs/examples/worker.
struct example {
  std::string name;
  std::vector<std::string> words;
};

void PrintTo(const example& one, std::ostream* out) {
  *out << one.name;
}

class WorkerPage : public testing::TestWithParam<example> {
 protected:
  void SetUp() override {
    if (GetParam().words.empty()) {
      GTEST_SKIP() << "no Go compiler was found when the tests were configured";
    }
  }

  /// `a`, whose workload is the example.
  member holder(const std::string& ttl = "2s") {
    return {in_, {.ttl = ttl, .command = GetParam().words}};
  }

  static std::string last_line(const program& of) {
    std::istringstream lines(of.out());
    std::string last;
    for (std::string line; std::getline(lines, line);) last = line;
    return last;
  }

  const temporary_directory in_;
};

std::vector<std::string> words_of_go() {
#ifdef WORKER_GO
  return {WORKER_GO};
#else
  return {};
#endif
}

INSTANTIATE_TEST_SUITE_P(Examples, WorkerPage,
                         testing::Values(example{"c", {WORKER_C}},
                                         example{"python", {"python3", WORKER_PY}},
                                         example{"go", words_of_go()}),
                         [](const auto& one) { return one.param.name; });

TEST_P(WorkerPage, WorkerMayWriteAsLongAsTheLeaseIsRenewed) {
  auto a = holder();
  ASSERT_TRUE(eventually([&] { return last_line(a.process()) == "may write, version 1"; }))
      << a.process().out() << a.process().err();
  // Two whole TTLs later that is still its only line.
  const auto later = std::chrono::steady_clock::now() + std::chrono::seconds(4);
  ASSERT_TRUE(eventually([&] { return std::chrono::steady_clock::now() > later; }));
  EXPECT_EQ(a.process().out(), "may write, version 1\n");
}

TEST_P(WorkerPage, WorkerStopsByItselfWhenAgentAndGuardAreFrozen) {
  auto a = holder();
  ASSERT_TRUE(eventually([&] { return last_line(a.process()) == "may write, version 1"; }))
      << a.process().out() << a.process().err();
  const auto workload = a.workload();
  const auto agent = a.agent();
  ASSERT_TRUE(workload && agent);
  ::kill(*agent, SIGSTOP);
  ::kill(a.process().pid(), SIGSTOP);
  EXPECT_TRUE(eventually([&] { return last_line(a.process()) == "may not write"; }));
  EXPECT_TRUE(is_alive(*workload)) << "nobody was there to kill it";
}

TEST_P(WorkerPage, DrainIsShownWhileTheLeaseIsStillHeld) {
  auto a = holder();
  ASSERT_TRUE(eventually([&] { return last_line(a.process()) == "may write, version 1"; }))
      << a.process().out() << a.process().err();
  a.process().send(SIGTERM);
  EXPECT_EQ(a.process().wait(), 0) << a.process().err();
  EXPECT_EQ(a.process().out(), "may write, version 1\nfinish, version 1\n");
}

TEST_P(WorkerPage, WorkerOfADeadAgentGoesOnUnderTheNext) {
  auto a = holder("20s");  // even a busy machine starts the next agent within this time
  ASSERT_TRUE(eventually([&] { return last_line(a.process()) == "may write, version 1"; }))
      << a.process().out() << a.process().err();
  const auto agent = a.agent();
  ASSERT_TRUE(agent);
  ::kill(*agent, SIGKILL);
  ASSERT_TRUE(eventually([&] {
    const auto now = a.agent();
    return now && now != agent && a.is_active();
  })) << a.process().err();
  EXPECT_EQ(a.process().out(), "may write, version 1\n");
}

TEST_P(WorkerPage, WorkerWhoseGuardEndsWithoutAnAgentIsToFinish) {
  auto a = holder();
  ASSERT_TRUE(eventually([&] { return last_line(a.process()) == "may write, version 1"; }))
      << a.process().out() << a.process().err();
  const auto agent = a.agent();
  ASSERT_TRUE(agent);
  // A stopped workload reads nothing, so the guard has to act alone once the agent is dead.
  ::kill(*agent, SIGSTOP);
  a.process().send(SIGTERM);
  ::kill(*agent, SIGKILL);
  EXPECT_TRUE(a.process().wait()) << a.process().err();
  EXPECT_EQ(a.process().out().find("may write, version 1\nfinish, version 1\n"), 0U)
      << a.process().out();
}

TEST_P(WorkerPage, WithoutTenureThereIsNoPage) {
  const finished alone = run(GetParam().words, in_);
  EXPECT_EQ(alone.status, 1);
  EXPECT_NE(alone.err.find("start this under `tenure exec --`"), std::string::npos) << alone.err;
}

}  // namespace
}  // namespace tenure::tests
