#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness.hpp"
#include "scripted_agent.hpp"
#include "servers/server_process.hpp"

namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<std::string> wait_for(const std::string& what, const std::string& api,
                                  std::vector<std::string> more = {}) {
  std::vector<std::string> out{tenure_binary(), "wait", "--for", what, "--api", api};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

TEST(Wait, EndsWithTheChangeThatItWaitsFor) {
  const temporary_directory in;
  scripted_agent agent;
  program p(wait_for("active", agent.api(), {"db"}), in / "wait");
  ASSERT_TRUE(eventually([&] { return agent.asked_for("index=1 wait=30000ms") == 1; })) << p.err();
  EXPECT_EQ(p.out(), "");
  agent.becomes(R"("state":"active","is_self":true,"holders":[{"identity":"a","version":8}])");
  EXPECT_EQ(p.wait(), 0) << p.err();
  EXPECT_EQ(p.out(), "a is active in db; a holds it, under version 8\n");
}

TEST(Wait, SaysWhereItStandsWhenTheTimeIsOver) {
  const temporary_directory in;
  scripted_agent agent;
  agent.becomes(R"("state":"candidate","holders":[{"identity":"b","version":7}])");
  const finished r = run(wait_for("holder=a", agent.api(), {"--timeout", "0s"}), in);
  EXPECT_EQ(r.status, 124) << r.err;
  EXPECT_THAT(r.err, HasSubstr("condition not met after 0s: a is a standby in db; b holds it"));
  EXPECT_EQ(run(wait_for("holder=b", agent.api(), {"--timeout", "0s"}), in).status, 0)
      << "what is so already needs no time";
}

TEST(Wait, AnAgentThatIsNotThereYetIsWaitedForAndNamed) {
  const temporary_directory in;
  const std::string port = std::to_string(servers::free_port());
  const std::string api = "http://127.0.0.1:" + port;
  program p(wait_for("active", api), in / "wait");
  ASSERT_TRUE(eventually([&] { return p.said("no agent has answered"); })) << p.err();
  program agent(
      {tenure_binary(), "agent", "--store", "sqlite", "--endpoint", in / "db", "--election", "db",
       "--identity", "a", "--listen", "127.0.0.1:" + port, "--probe-listen", "off"},
      in / "agent");
  EXPECT_EQ(p.wait(), 0) << p.err() << agent.err();
  EXPECT_THAT(p.out(), HasSubstr("a is active in db"));
  const finished r =
      run(wait_for("active", "http://127.0.0.1:" + std::to_string(servers::free_port()),
                   {"--timeout", "0s"}),
          in);
  EXPECT_EQ(r.status, 5) << r.err;
}

TEST(Wait, WhatCanNeverBeIsNotWaitedFor) {
  const temporary_directory in;
  program agent(
      {tenure_binary(), "agent", "--store", "sqlite", "--endpoint", in / "db", "--election", "one",
       "--election", "two", "--listen", "127.0.0.1:0", "--probe-listen", "off"},
      in / "agent");
  ASSERT_TRUE(eventually([&] { return agent.said("msg=listening") && agent.said("probe=off"); }));
  const std::string log = agent.err();
  const auto at = log.find("api=127") + 4;
  const std::string api = "http://" + log.substr(at, log.find(' ', at) - at);
  finished r;
  EXPECT_TRUE(eventually([&] {
    r = run(wait_for("active", api, {"nope", "--timeout", "0s"}), in);
    return r.status == 2;
  })) << r.err;
  EXPECT_THAT(r.err, HasSubstr("there is no election \"nope\""));
  r = run(wait_for("active", api), in);
  EXPECT_EQ(r.status, 2);
  EXPECT_THAT(r.err, AllOf(HasSubstr("which election?"), HasSubstr("one, two")));
  EXPECT_EQ(run(wait_for("leader", api), in).status, 2);
  EXPECT_EQ(run(wait_for("active", api, {"--timeout", "5"}), in).status, 2);
}

}  // namespace
}  // namespace tenure::tests
