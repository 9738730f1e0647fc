#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "call_list.hpp"
#include "harness.hpp"

/// Once it runs, a guard makes no system call that may wait: docs/guard-calls.md has them all.
namespace tenure::tests {
namespace {

using testing::IsEmpty;

class GuardCalls : public testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(never_two_at_once(stamped_runs(in_))); }

  /// The tracer is nobody's parent here, so the guard is the child that it is without.
  [[nodiscard]] std::vector<std::string> traced() const {
    return {"strace", "-D", "-yy", "-o", trace()};
  }
  [[nodiscard]] std::string trace() const { return in_ / "trace"; }

  /// A workload that ignores SIGTERM, and has left a process in a session of its own.
  [[nodiscard]] std::vector<std::string> stubborn() const {
    return {"sh", "-c",
            "trap '' TERM; (setsid sleep 1000 &); exec " + stamper_binary() + " " +
                in_.path().string() + " stubborn"};
  }

  void expect_all_listed() const {
    ASSERT_FALSE(list_.empty());
    std::size_t seen = 0;
    EXPECT_THAT(list_.refused(trace(), seen), IsEmpty());
    EXPECT_GT(seen, 100U) << "the trace has no more lines than that";
  }

  /// Long enough for the next agent to adopt the workload of a guard that is traced.
  const std::string ttl_ = "6s";
  temporary_directory in_;
  call_list list_{TENURE_DOCS};
};

TEST_F(GuardCalls, OfAGuardThatStartsItsAgent) {
  member a(in_, {.identity = "a", .ttl = ttl_, .command = stubborn(), .before = traced()});
  ASSERT_TRUE(runs_as(in_, "a")) << a.process().err();
  // Adoption.
  const pid_t first = a.agent().value_or(0);
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return a.process().said("active again under version"); }));
  // Loss: nobody renews, and the guard tells and kills the workload by itself.
  const pid_t second = a.agent().value_or(0);
  ASSERT_EQ(::kill(second, SIGSTOP), 0);
  EXPECT_TRUE(eventually([&] { return a.process().said("the guard kills"); })) << a.process().err();
  ASSERT_EQ(::kill(second, SIGCONT), 0);
  ASSERT_TRUE(runs_as(in_, "a", 1)) << a.process().err();
  // What is passed on, and the end.
  a.process().send(SIGHUP);
  a.process().send(SIGTERM);
  EXPECT_TRUE(eventually([&] { return a.process().said("told to end by SIGTERM"); }));
  a.process().send(SIGINT);
  EXPECT_TRUE(a.process().wait());
  expect_all_listed();
}

TEST_F(GuardCalls, OfAGuardThatAgentsConnectTo) {
  const std::string shared = in_ / "shared";
  std::vector<std::string> words = traced();
  const std::vector<std::string> command = stubborn();
  words.insert(words.end(), {tenure_binary(), "guard", "--dir", shared, "--"});
  words.insert(words.end(), command.begin(), command.end());
  program guard(words, in_ / "guard");
  const auto agent = [&](const std::string& output) {
    return std::make_unique<program>(
        std::vector<std::string>{tenure_binary(), "agent", "--store", "sqlite", "--endpoint",
                                 (in_ / "db").string(), "--election", "test", "--identity", "a",
                                 "--ttl", ttl_, "--guard-dir", shared, "--listen", "off",
                                 "--probe-listen", "off"},
        in_ / output);
  };
  auto first = agent("first");
  ASSERT_TRUE(runs_as(in_, "a")) << guard.err() << first->err();
  // Adoption, and one agent too many.
  first->send(SIGKILL);
  ASSERT_TRUE(first->wait());
  auto second = agent("second");
  ASSERT_TRUE(eventually([&] { return second->said("active again under version"); }));
  // Loss.
  second->send(SIGSTOP);
  EXPECT_TRUE(eventually([&] { return guard.said("the guard kills"); })) << guard.err();
  second->send(SIGCONT);
  ASSERT_TRUE(runs_as(in_, "a", 1)) << guard.err();
  guard.send(SIGTERM);
  EXPECT_TRUE(eventually([&] { return second->said("giving the lease up"); })) << second->err();
  guard.send(SIGINT);
  EXPECT_TRUE(guard.wait());
  expect_all_listed();
}

}  // namespace
}  // namespace tenure::tests
