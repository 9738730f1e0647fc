#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>

#include "harness.hpp"
#include "scripted_agent.hpp"
#include "terminal_of.hpp"

/// `tenure status --watch`.
namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr const char* standby = R"("state":"candidate","holders":[{"identity":"b","version":7}])";
constexpr const char* active =
    R"("state":"active","is_self":true,"holders":[{"identity":"a","version":8}])";

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::vector<std::string> watch(const std::string& api, std::vector<std::string> more = {}) {
  std::vector<std::string> words{tenure_binary(), "status", "db", "--watch", "--api", api};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(StatusWatch, EachChangeIsOneLineAndIsWaitedForNotPolledFor) {
  const temporary_directory in;
  scripted_agent agent;
  agent.becomes(standby);
  program p(watch(agent.api()), in / "watch");
  ASSERT_TRUE(eventually([&] { return lines(p.out()).size() == 1; })) << p.err();
  ASSERT_TRUE(eventually([&] { return agent.asked_for("index=2 wait=30000ms") == 1; }));
  agent.becomes(active);
  ASSERT_TRUE(eventually([&] { return lines(p.out()).size() == 2; })) << p.err();
  ASSERT_TRUE(eventually([&] { return agent.asked_for("index=3") == 1; }));
  EXPECT_THAT(lines(p.out()),
              ElementsAre(EndsWith("election=db agent=a state=standby holder=b version=7"),
                          EndsWith("election=db agent=a state=active holder=a version=8")));
  EXPECT_EQ(agent.asked().size(), 3U);
  p.send(SIGTERM);
  EXPECT_EQ(p.wait(), 128 + SIGTERM);
}

TEST(StatusWatch, WhatHasNotChangedForTheReaderIsNotSaidAgain) {
  const temporary_directory in;
  scripted_agent agent(scripted_agent::kind::does_not);
  agent.becomes(std::string(standby) + R"(,"expires_in_ms":1)");
  program text(watch(agent.api()), in / "text");
  program json(watch(agent.api(), {"--output", "json"}), in / "json");
  ASSERT_TRUE(eventually([&] { return !text.out().empty() && !json.out().empty(); }));
  agent.becomes(std::string(standby) + R"(,"expires_in_ms":2)");
  const std::size_t before = agent.asked().size();
  ASSERT_TRUE(eventually([&] { return agent.asked().size() >= before + 4; })) << "asked again";
  agent.becomes(active);
  ASSERT_TRUE(
      eventually([&] { return lines(text.out()).size() >= 2 && lines(json.out()).size() >= 2; }));
  EXPECT_EQ(lines(text.out()).size(), 2U) << text.out();
  EXPECT_THAT(lines(json.out()),
              ElementsAre(HasSubstr(R"("expires_in_ms":1)"), HasSubstr(R"("state":"active")")));
}

TEST(StatusWatch, AnAgentThatHoldsNothingBackIsNotFlooded) {
  const temporary_directory in;
  scripted_agent agent(scripted_agent::kind::impatient);
  program p(watch(agent.api()), in / "watch");
  ASSERT_TRUE(eventually([&] { return agent.asked().size() >= 4; })) << p.err();
  scripted_agent other;
  // A flood would be thousands of requests in the time a program takes to start and end.
  const finished once = run({tenure_binary(), "status", "--api", other.api()}, in);
  EXPECT_EQ(once.status, 0) << once.err;
  EXPECT_LT(agent.asked().size(), 100U);
}

TEST(StatusWatch, AnAgentThatGoesAndComesIsAWord) {
  const temporary_directory in;
  scripted_agent second;
  second.becomes(active);
  auto leaving = std::make_unique<scripted_agent>();
  leaving->becomes(standby);
  const std::string api = leaving->api();
  program p(watch(api, {"--api", second.api()}), in / "watch");
  ASSERT_TRUE(eventually([&] { return lines(p.out()).size() == 2; })) << p.err();
  leaving.reset();
  ASSERT_TRUE(eventually([&] { return lines(p.out()).size() == 3; })) << p.out();
  EXPECT_THAT(lines(p.out()).back(), AllOf(HasSubstr("api=" + api), HasSubstr("error=")));
}

TEST(StatusWatch, ATerminalShowsTheNewestStateInPlaceAndGetsItsCursorBack) {
  scripted_agent agent;
  agent.becomes(standby);
  terminal_of tty({tenure_binary(), "status", "--watch", "--api", agent.api()});
  ASSERT_TRUE(eventually([&] { return tty.shown().contains("standby"); })) << tty.shown();
  EXPECT_THAT(tty.shown(), HasSubstr("\x1b[?25l"));
  agent.becomes(active);
  ASSERT_TRUE(eventually([&] { return tty.shown().contains("\x1b[32mactive"); })) << tty.shown();
  EXPECT_THAT(tty.shown(), HasSubstr("\x1b[2A\r")) << "over the two lines from before";
  EXPECT_THAT(tty.shown(), Not(HasSubstr("\x1b[2J"))) << "a cleared screen flickers";
  EXPECT_THAT(tty.shown(), Not(HasSubstr("\x1b[?25h")));
  tty.type("\x03");
  EXPECT_EQ(tty.ended_by(), SIGINT) << "the parent sees the real signal";
  EXPECT_THAT(tty.shown(), EndsWith("\x1b[?25h"));
}

TEST(StatusWatch, ATerminalAsksForRenewalsBeforeTheLeaseHasFallenFar) {
  scripted_agent agent;
  agent.becomes(std::string(active) + R"(,"expires_in_ms":2400)");
  terminal_of tty({tenure_binary(), "status", "--watch", "--api", agent.api()});
  EXPECT_TRUE(eventually([&] { return agent.asked_for("wait=600ms") >= 1; })) << tty.shown();
  tty.type("\x03");
  EXPECT_EQ(tty.ended_by(), SIGINT);
}

}  // namespace
}  // namespace tenure::tests
