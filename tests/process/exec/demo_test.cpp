// `tenure demo`, the first thing that users see.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness.hpp"
#include "places.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

void expect_good(const finished& demo) {
  EXPECT_EQ(demo.status, 0) << demo.out << demo.err;
  EXPECT_THAT(demo.out, HasSubstr(" s  next: "));
  EXPECT_THAT(demo.out, HasSubstr("\u2713 at no time did two workloads run"));
  EXPECT_THAT(demo.out, HasSubstr("\u2713 every term has a larger version"));
  EXPECT_THAT(demo.out, HasSubstr("\u2713 all agents ended in order"));
  EXPECT_THAT(demo.out, Not(HasSubstr("\x1b["))) << "no colour where there is no terminal";
}

TEST(Demo, ShowsAFailOverOnSqlite) {
  const temporary_directory in;
  expect_good(run({tenure_binary(), "demo"}, in));
}

TEST(Demo, SaysWhichProgramIsMissing) {
  const temporary_directory in;
  for (const std::string store : {"etcd", "consul"}) {
    const finished demo =
        run({tenure_binary(), "demo", "--store", store, "--" + store, "/none"}, in);
    EXPECT_EQ(demo.status, 1);
    EXPECT_THAT(demo.out, HasSubstr("there is no program \"/none\"; install "));
  }
}

class DemoOnServers : public testing::TestWithParam<place> {};

TEST_P(DemoOnServers, ShowsAFailOverAndTheLossOfTheStoresLeader) {
  if (!GetParam().missing().empty()) GTEST_SKIP() << GetParam().missing();
  const temporary_directory in;
  program demo({tenure_binary(), "demo", "--store", GetParam().kind, "--" + GetParam().kind,
                GetParam().server->binary},
               in / "demo");
  // On an idle machine it takes 25 s on Consul, most of them until servers have elected a leader.
  std::optional<int> status = demo.wait();
  if (!status) status = demo.wait();
  expect_good({.status = status.value_or(-1), .out = demo.out(), .err = demo.err()});
  EXPECT_THAT(demo.out(), HasSubstr("the store loses its leader"));
}

INSTANTIATE_TEST_SUITE_P(On, DemoOnServers, testing::ValuesIn(server_places()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tenure::tests
