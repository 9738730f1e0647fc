#include <gtest/gtest.h>

#include <csignal>
#include <memory>

#include "harness.hpp"
#include "support/freezer.hpp"

/// A holder whose command hangs in the kernel: SIGKILL and the release have to wait.
namespace tenure::tests {
namespace {

class ExecStuck : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!freezer_.missing().empty()) GTEST_SKIP() << freezer_.missing();
  }

  /// A member whose command is in the freezer.
  [[nodiscard]] std::unique_ptr<member> holder(const std::string& ttl) const {
    const std::string script =
        "echo $$ > " + freezer_.procs() + "; echo in; while :; do sleep 0.05; done";
    return std::make_unique<member>(
        in_,
        member::options{.ttl = ttl, .more = {"--drain", "100ms"}, .command = {"sh", "-c", script}});
  }

  const freezer freezer_;
  const temporary_directory in_;
};

constexpr const char* said = "the workload hangs in the kernel";

TEST_F(ExecStuck, LeaseIsReleasedOnlyOnceTheCommandIsDead) {
  const auto a = holder("10m");
  ASSERT_TRUE(eventually([&] { return a->process().out() == "in\n"; })) << a->process().err();
  member b(in_, {.identity = "b", .ttl = "10m"});
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); })) << b.process().err();
  const freezer::frost frost(freezer_);
  a->process().send(SIGTERM);
  ASSERT_TRUE(eventually([&] { return a->process().said(said); })) << a->process().err();
  EXPECT_TRUE(eventually([&] { return a->process().said(" name=sh state=D "); }))
      << a->process().err();
  EXPECT_FALSE(b.process().said("nobody holds the lease"));
  EXPECT_FALSE(b.is_active());
  frost.thaw();
  EXPECT_EQ(a->process().wait(), 128 + SIGKILL) << a->process().err();
  ASSERT_TRUE(runs_as(in_, "b")) << b.process().err();
}

TEST_F(ExecStuck, OthersGetTheLeaseWhenItRunsOut) {
  const auto a = holder("2s");
  ASSERT_TRUE(eventually([&] { return a->process().out() == "in\n"; })) << a->process().err();
  member b(in_, {.identity = "b", .ttl = "2s"});
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); })) << b.process().err();
  const freezer::frost frost(freezer_);
  a->process().send(SIGTERM);
  ASSERT_TRUE(runs_as(in_, "b")) << a->process().err() << b.process().err();
  EXPECT_TRUE(eventually([&] {
    return b.process().said("the previous holder left no release record");
  })) << "it was released";
}

}  // namespace
}  // namespace tenure::tests
