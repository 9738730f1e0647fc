#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "log/log_line.hpp"
#include "stage.hpp"

namespace tenure::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

const std::string polite =
    "exec 2>/dev/null; trap 'exit 3' TERM; touch $DIR/up; while :; do sleep 0.01; done";
const std::string deaf =
    "exec 2>/dev/null; trap '' TERM; touch $DIR/up; while :; do sleep 0.01; done";

/// "log FORM": the number of this form.
std::string form(log::log_form which) {
  return "log " + std::to_string(static_cast<int>(which));
}

class GuardLog : public testing::Test {
 protected:
  /// Starts this script in term seven, with an agent whose log has this form.
  void start(const std::string& script, const std::string& how_to_log) {
    stage_ = std::make_unique<stage>(stage::shell(script));
    agent_ = std::make_unique<agent_line>(stage_->agent());
    agent_->tell(how_to_log);
    pid_ = agent_->start(7, stage_->mark());
    ASSERT_TRUE(eventually([&] { return stage_->has("up"); }));
  }

  /// Arms kill_at and stop_at as given in milliseconds. No order follows.
  void let_the_deadline_pass(const std::string& stop_and_kill) {
    agent_->tell("arm 7 " + stop_and_kill);
    agent_->tell("acknowledged");
    agent_->hear("acknowledged");
  }

  [[nodiscard]] std::vector<std::string> lines() const {
    std::istringstream all(stage_->read("stderr"));
    std::vector<std::string> out;
    for (std::string line; std::getline(all, line);) out.push_back(line);
    return out;
  }

  [[nodiscard]] bool says(std::size_t count) const {
    return eventually([&] { return lines().size() >= count; });
  }

  std::unique_ptr<stage> stage_;
  std::unique_ptr<agent_line> agent_;
  pid_t pid_ = 0;
};

TEST_F(GuardLog, AtADeadlineThatNobodySeesToItSaysWhatItDoes) {
  start(polite, form(log::log_form::logfmt) + " election=db identity=a");
  let_the_deadline_pass("3600000 3599500");
  ASSERT_TRUE(says(2)) << stage_->read("stderr");
  const std::string when = "time=[0-9T:.Z-]+ ";
  const std::string whose = "\" election=db identity=a";
  EXPECT_THAT(lines(),
              ElementsAre(MatchesRegex(when +
                                       "level=warn msg=\"the lease was not renewed: the "
                                       "guard has sent SIGTERM to the workload .pid " +
                                       std::to_string(pid_) +
                                       "., and kills what is left of it in [0-9 a-z]+" + whose),
                          MatchesRegex(when + "level=info msg=\"the workload exited with status 3" +
                                       whose)));
}

TEST_F(GuardLog, AnIgnoredSignalAndTheKillAreWarnings) {
  start(deaf, form(log::log_form::text) + "  election=db");
  let_the_deadline_pass("600 300");
  ASSERT_TRUE(says(3)) << stage_->read("stderr");
  EXPECT_THAT(
      lines(),
      ElementsAre(HasSubstr("Z warn  the lease was not renewed: the guard has sent SIGTERM"),
                  testing::EndsWith("Z warn  the workload has not ended in time: the guard kills "
                                    "what is left of it  election=db"),
                  testing::EndsWith("Z info  the workload was ended by SIGKILL  election=db")));
}

TEST_F(GuardLog, WhatTheAgentOrdersItDoesNotSayAgain) {
  start(polite, form(log::log_form::logfmt));
  agent_->tell("stop 0 3600000");
  agent_->hear("exited");
  agent_->start(8, stage_->mark());
  ASSERT_EQ(::kill(agent_->pid(), SIGKILL), 0);
  ASSERT_TRUE(says(1));
  EXPECT_THAT(lines(), ElementsAre(MatchesRegex(
                           "time=.* msg=\"the agent .pid [0-9]+. was killed by SIGKILL; "
                           "the workload goes on for [0-9 a-z]+ at the most, while "
                           "another agent is started\"")));
}

TEST_F(GuardLog, IsJsonWhereThatIsAskedFor) {
  start(polite, form(log::log_form::json) + R"(,"election":"db")");
  let_the_deadline_pass("3600000 3599500");
  ASSERT_TRUE(says(2)) << stage_->read("stderr");
  for (const std::string& line : lines()) {
    const auto parsed = nlohmann::json::parse(line, nullptr, false);
    ASSERT_FALSE(parsed.is_discarded()) << line;
    EXPECT_EQ(parsed["election"], "db") << line;
    EXPECT_TRUE(parsed.contains("time") && parsed.contains("level") && parsed.contains("msg"));
  }
}

TEST_F(GuardLog, AFormThatIsNotOneChangesNothing) {
  start(polite, "log 9 election=db");
  agent_->tell(form(log::log_form::text) + std::string(2000, ' '));
  let_the_deadline_pass("3600000 3599500");
  ASSERT_TRUE(says(2)) << stage_->read("stderr");
  EXPECT_THAT(lines(), testing::Each(StartsWith("tenure guard: ")));
}

}  // namespace
}  // namespace tenure::tests
