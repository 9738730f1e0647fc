#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "harness.hpp"
#include "scripted_agent.hpp"
#include "servers/server_process.hpp"

/// `tenure status` and `tenure history` against real members.
namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Status : public testing::Test {
 protected:
  void SetUp() override {
    a_ = std::make_unique<member>(in_, member::options{.identity = "a", .ttl = "10m"});
    ASSERT_TRUE(runs_as(in_, "a")) << a_->process().err();
    b_ = std::make_unique<member>(in_, member::options{.identity = "b", .ttl = "10m"});
    ASSERT_TRUE(eventually([&] { return b_->process().said("holder=a"); }));
  }

  finished tenure(std::vector<std::string> words, const std::vector<std::string>& more = {}) {
    words.insert(words.begin(), tenure_binary());
    return run(words, in_, more);
  }

  temporary_directory in_;
  std::unique_ptr<member> a_;
  std::unique_ptr<member> b_;
};

TEST_F(Status, SeveralAgentsMakeOneTable) {
  const finished r = tenure({"status", "--api", a_->api(), "--api", b_->api()});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("ELECTION"), ContainsRegex("test +a +active +a +1 "),
                           ContainsRegex("test +b +standby +a +1 "), HasSubstr("a, b")));
  EXPECT_THAT(r.out, Not(HasSubstr("\x1b"))) << "colours are for terminals";
}

TEST_F(Status, AnAgentThatDoesNotAnswerIsNamedAndTheOthersAreShown) {
  const std::string nobody = "http://127.0.0.1:" + std::to_string(servers::free_port());
  const finished r = tenure({"status", "--api", nobody, "--api", a_->api()});
  EXPECT_EQ(r.status, 4);
  EXPECT_THAT(r.out, ContainsRegex("test +a +active"));
  EXPECT_THAT(r.err, AllOf(HasSubstr("one of 2 agents has not answered"), HasSubstr(nobody)));
  const finished none = tenure({"status", "--api", nobody, "--api", nobody});
  EXPECT_EQ(none.status, 5);
  EXPECT_THAT(none.err, HasSubstr("none of 2 agents has answered"));
}

TEST_F(Status, JsonIsTheAgentsOwnAnswer) {
  const finished r = tenure({"status", "test", "--output", "json"}, {"TENURE_API=" + a_->api()});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(testing::StartsWith(R"({"election":"test","identity":"a",)"),
                           testing::EndsWith("}\n")));
}

TEST_F(Status, WhatTheAgentRefusesIsSaidInItsWords) {
  const finished r = tenure({"status", "nope", "--api", a_->api(), "--output", "json"});
  EXPECT_EQ(r.status, 2);
  EXPECT_THAT(r.err, HasSubstr("there is no election \"nope\"; this agent has: test"));
  EXPECT_THAT(r.err, Not(HasSubstr("percent-encoded"))) << "advice for those who write requests";
  EXPECT_THAT(r.out, HasSubstr(R"({"error":{"code":"unknown_election")"));
}

TEST_F(Status, AVersionThatIsNoneIsAnsweredWithACommand) {
  const finished r = tenure({"verify", "test", "--version", "0", "--api", a_->api()});
  EXPECT_EQ(r.status, 2);
  EXPECT_EQ(r.err,
            "tenure verify: \"0\" is not a version: a whole number from 1 to 2^64-1; e.g. tenure "
            "verify test --version 7\n");
}

TEST_F(Status, TheHistoryTellsWhoLeftAndWhy) {
  a_->process().send(SIGTERM);
  ASSERT_TRUE(runs_as(in_, "b", 1)) << b_->process().err();
  finished r;
  EXPECT_TRUE(eventually([&] {
    r = tenure({"history", "--api", b_->api()});
    return r.out.contains("runs");
  })) << r.err;
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("VERSION"), ContainsRegex("2 +b +20.* runs +[0-9a-z]+ +-"),
                           ContainsRegex("1 +a .* shutdown")));
  const finished newest = tenure({"history", "test", "--limit", "1", "--api", b_->api()});
  EXPECT_THAT(newest.out, Not(HasSubstr("shutdown")));
  EXPECT_EQ(tenure({"history", "--limit", "0", "--api", b_->api()}).status, 2);
}

TEST(StatusOfAProbePort, SaysThatItIsOne) {
  const temporary_directory in;
  program agent({tenure_binary(), "agent", "--store", "sqlite", "--endpoint", in / "db",
                 "--election", "db", "--listen", "off", "--probe-listen", "127.0.0.1:0"},
                in / "agent");
  ASSERT_TRUE(eventually([&] { return agent.said("probe=127.0.0.1:"); })) << agent.err();
  const std::string log = agent.err();
  const auto at = log.find("probe=127") + 6;
  const finished r = run(
      {tenure_binary(), "status", "--api", "http://" + log.substr(at, log.find(' ', at) - at)}, in);
  EXPECT_EQ(r.status, 2);
  EXPECT_THAT(r.err, AllOf(HasSubstr("this is the probe port of an agent, not its API"),
                           HasSubstr("--listen")));
}

TEST(StatusOfAStranger, IsNotBelieved) {
  const temporary_directory in;
  scripted_agent agent;
  agent.becomes(R"("state":7)");
  const finished r = run({tenure_binary(), "status", "--api", agent.api()}, in);
  EXPECT_EQ(r.status, 4) << r.out << r.err;
  EXPECT_THAT(r.err, HasSubstr("not that of an agent"));
}

TEST(StatusOverAUnixSocket, AsksLocalhost) {
  const temporary_directory in;
  scripted_agent agent;
  const finished r = run({tenure_binary(), "status", "--api", agent.unix_api()}, in);
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(agent.asked_for("GET /v1/elections host=localhost"), 1U);
  const finished gone = run({tenure_binary(), "status", "--api", "unix:/nonexistent/s"}, in);
  EXPECT_EQ(gone.status, 5);
  EXPECT_THAT(gone.err, AllOf(HasSubstr("cannot connect to unix:/nonexistent/s"),
                              HasSubstr("ENOENT"), HasSubstr("does the server listen there")));
  EXPECT_EQ(run({tenure_binary(), "status", "--api", "unix:relative"}, in).status, 2);
}

}  // namespace
}  // namespace tenure::tests
