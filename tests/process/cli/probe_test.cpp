#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness.hpp"
#include "servers/server_process.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;

std::size_t line_ends(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST(Probe, IsAYesOrANoAndOneLine) {
  const temporary_directory in;
  member a(in, {.identity = "a", .ttl = "10m"});
  ASSERT_TRUE(runs_as(in, "a")) << a.process().err();
  member b(in, {.identity = "b", .ttl = "10m"});
  ASSERT_TRUE(eventually([&] { return b.process().said("holder=a"); }));
  struct question {
    const member& whom;
    const char* probe;
    int status;
  };
  for (const question& q :
       {question{a, "livez", 0}, question{a, "readyz", 0}, question{a, "leader", 0},
        question{a, "primary", 0}, question{a, "replica", 1}, question{b, "livez", 0},
        question{b, "readyz", 0}, question{b, "leader", 1}, question{b, "replica", 0}}) {
    const finished r = run({tenure_binary(), "probe", q.probe, "--url", q.whom.api()}, in);
    EXPECT_EQ(r.status, q.status) << q.probe << ": " << r.out << r.err;
    EXPECT_EQ(line_ends(r.out), 1U) << r.out;
    EXPECT_EQ(r.err, "");
  }
  EXPECT_EQ(run({tenure_binary(), "probe", "leader", "test", "--api", a.api()}, in).status, 0);
  EXPECT_EQ(run({tenure_binary(), "probe", "leader", "nope", "--api", a.api()}, in).status, 2);
  EXPECT_EQ(run({tenure_binary(), "probe", "lively", "--api", a.api()}, in).status, 2);
}

TEST(Probe, NobodyThereIsANo) {
  const temporary_directory in;
  const std::string nobody = "http://127.0.0.1:" + std::to_string(servers::free_port());
  const finished r = run({tenure_binary(), "probe", "livez"}, in, {"TENURE_API=" + nobody});
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.out, HasSubstr("livez: no: no agent has answered"));
  EXPECT_EQ(line_ends(r.out), 1U);
}

}  // namespace
}  // namespace tenure::tests
