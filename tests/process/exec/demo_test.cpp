// `tenure demo`, the first thing that users see.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness.hpp"
#include "servers/etcd_server.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

void expect_good(const finished& demo) {
  EXPECT_EQ(demo.status, 0) << demo.out << demo.err;
  EXPECT_THAT(demo.out, HasSubstr("\u2713 at no time did two workloads run"));
  EXPECT_THAT(demo.out, HasSubstr("\u2713 every term has a larger version"));
  EXPECT_THAT(demo.out, HasSubstr("\u2713 all agents ended in order"));
  EXPECT_THAT(demo.out, Not(HasSubstr("\x1b["))) << "no colour where there is no terminal";
}

TEST(Demo, ShowsAFailOverOnSqlite) {
  const temporary_directory in;
  expect_good(run({tenure_binary(), "demo"}, in));
}

TEST(Demo, SaysWhatIsMissingForEtcd) {
  const temporary_directory in;
  const finished demo = run({tenure_binary(), "demo", "--store", "etcd", "--etcd", "/none"}, in);
  EXPECT_EQ(demo.status, 1);
  EXPECT_THAT(demo.out, HasSubstr("there is no program \"/none\"; install etcd"));
}

class DemoOnEtcd : public testing::TestWithParam<servers::etcd_release> {};

TEST_P(DemoOnEtcd, ShowsAFailOverAndTheLossOfEtcdsLeader) {
  if (GetParam().binary.empty()) GTEST_SKIP() << GetParam().why;
  const temporary_directory in;
  const finished demo =
      run({tenure_binary(), "demo", "--store", "etcd", "--etcd", GetParam().binary}, in);
  expect_good(demo);
  EXPECT_THAT(demo.out, HasSubstr("the store loses its leader"));
}

INSTANTIATE_TEST_SUITE_P(Releases, DemoOnEtcd, testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tenure::tests
