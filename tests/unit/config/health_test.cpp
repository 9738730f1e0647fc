#include "config/values.hpp"
#include "support.hpp"

namespace tenure::config::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using tests::expect_golden;
using namespace std::chrono_literals;

inputs with_health(const std::string& text) {
  return with_file("health_file: /run/ok\n" + text);
}

TEST(HealthSettings, NothingIsCheckedByDefault) {
  EXPECT_FALSE(good(minimal()).health.is_checked());
}

TEST(HealthSettings, OneKindAloneIsAGoodConfiguration) {
  const health h = good(with_flags({{"--health-http", "http://127.0.0.1:8080/healthz"}})).health;
  EXPECT_TRUE(h.is_checked());
  EXPECT_EQ(h.interval, 2s);
  EXPECT_EQ(h.timeout, 1s);
  EXPECT_EQ(h.failures, 3U);
  EXPECT_EQ(h.successes, 1U);
  EXPECT_EQ(h.delay, 10s);
  EXPECT_EQ(h.when, std::nullopt) << "what runs the workload decides";
  EXPECT_EQ(h.noticed_within(), 7s);
}

TEST(HealthSettings, ShortIntervalShrinksTheTimeoutThatWasNotGiven) {
  EXPECT_EQ(good(with_health("health_interval: 500ms\n")).health.timeout, 500ms);
  EXPECT_EQ(good(with_health("health_interval: 1m\n")).health.timeout, 1s);
}

TEST(HealthSettings, UrlIsOfThisMachineWithoutTlsAndWithoutAUser) {
  for (const char* url :
       {"http://127.0.0.1:8080/healthz", "http://localhost", "HTTP://LocalHost:80/",
        "http://[::1]:1?full=1", "http://127.1.2.3/a/b?x=1&y=/z?"}) {
    EXPECT_EQ(good(with_flags({{"--health-http", url}})).health.http, url);
  }
  struct row {
    const char* url;
    const char* problem;
  };
  for (const row& r : {
           row{"127.0.0.1:8080", "does not say whether to use TLS"},
           row{"http://", "has no host"},
           row{"http://127.0.0.1:0/", "has a port that is not from 1 to 65535"},
           row{"https://127.0.0.1/", "with TLS; give http://"},
           row{"http://example.org/", "which is not this machine; give localhost"},
           row{"http://10.0.0.1/", "which is not this machine"},
           row{"http://localhost/#x", "with a fragment"},
           row{"http://localhost/a b", "a blank"},
       }) {
    expect_golden(problems_of(with_flags({{"--health-http", r.url}})));
  }
}

TEST(HealthSettings, SecretInAUrlIsNeverRepeated) {
  for (const char* url :
       {"http://root:hunter2@localhost/", "http://hunter2@localhost/", "https://localhost/?hunter2",
        "http://example.org/?key=hunter2", "localhost?hunter2", "http://localhost/?hunter2#",
        "http://root:hunter2@localhost/\n"}) {
    const auto problems = problems_of(with_flags({{"--health-http", url}}));
    EXPECT_THAT(problems, ElementsAre(Not(HasSubstr("hunter2")))) << url;
  }
}

TEST(HealthSettings, CommandIsSplitIntoWordsAndNoShellReadsIt) {
  struct row {
    const char* text;
    std::vector<std::string> words;
  };
  for (const row& r : {
           row{"true", {"true"}},
           row{"  pg_isready   -q ", {"pg_isready", "-q"}},
           row{"sh -c 'test -e \"/a b\" && true'", {"sh", "-c", "test -e \"/a b\" && true"}},
           row{"a \"b c\"d e\"\" '' f", {"a", "b cd", "e", "", "f"}},
           row{"echo $HOME | x; y\\ z", {"echo", "$HOME", "|", "x;", "y\\", "z"}},
       }) {
    EXPECT_EQ(good(with_flags({{"--health-command", r.text}})).health.command, r.words);
    EXPECT_EQ(good(with_environment({{"TENURE_HEALTH_COMMAND", r.text}})).health.command, r.words);
  }
  expect_golden(problems_of(with_flags({{"--health-command", "sh -c 'exit 1"}})));
  expect_golden(problems_of(with_flags({{"--health-command", "  "}})));
  expect_golden(problems_of(with_flags({{"--health-command", "a\tb"}})));
}

TEST(HealthSettings, CommandInTheFileMayBeAListWhoseItemsAreWordsAsTheyStand) {
  EXPECT_EQ(good(with_file("health_command: [sh, -c, \"a 'b\", '']\n")).health.command,
            (std::vector<std::string>{"sh", "-c", "a 'b", ""}));
  expect_golden(problems_of(with_file("health_command: [sleep, 5]\n")));
  expect_golden(problems_of(with_file("health_command: []\n")));
}

TEST(HealthSettings, CommandsAreLimited) {
  std::string words = "w";
  for (std::size_t i = 1; i < max_command_words; ++i) words += " w";
  EXPECT_EQ(good(with_flags({{"--health-command", words}})).health.command.size(),
            max_command_words);
  expect_golden(problems_of(with_flags({{"--health-command", words + " w"}})));
  expect_golden(problems_of(with_flags({{"--health-command", std::string(5000, 'x')}})));
}

TEST(HealthSettings, TimeoutLongerThanTheIntervalIsRefusedWithBothNumbers) {
  expect_golden(problems_of(with_health("health_timeout: 3s\n")));
  EXPECT_EQ(good(with_health("health_timeout: 2s\n")).health.timeout, 2s);
}

TEST(HealthSettings, NumbersHaveTheirRanges) {
  for (const char* line : {"health_interval: 99ms", "health_interval: 61m", "health_timeout: 49ms",
                           "health_delay: 25h", "health_file_age: 999ms", "health_file_age: 25h",
                           "health_failures: 0", "health_failures: 101", "health_successes: 0"}) {
    expect_golden(problems_of(with_health(line)));
  }
  expect_golden(problems_of(with_health("health_interval: 0s\n")));
}

TEST(HealthSettings, NumbersWithoutAnythingToCheckAreRefused) {
  for (const char* line :
       {"health_interval: 1s", "health_timeout: 1s", "health_failures: 2", "health_successes: 2",
        "health_delay: 0s", "health_while: always", "health_file_age: 1m"}) {
    expect_golden(problems_of(with_file(line)));
  }
  expect_golden(problems_of(with_file("health_command: 'true'\nhealth_file_age: 1m\n")));
  expect_golden(problems_of(with_file("health_http: x\nhealth_delay: 1s\n")));
}

TEST(HealthSettings, ObserverHasNothingToCheck) {
  expect_golden(problems_of(with_health("observe: true\n")));
}

TEST(HealthSettings, NumbersThatMakeLittleSenseAreAcceptedWithAWarning) {
  const auto warnings = [](const std::string& text) {
    std::vector<std::string> out;
    for (const problem& p : good(with_health(text)).warnings) out.push_back(render(p));
    return out;
  };
  EXPECT_THAT(warnings(""), IsEmpty());
  EXPECT_THAT(warnings("health_interval: 300ms\n"),
              ElementsAre(AllOf(HasSubstr("health_failures 3 x health_interval 300ms = 900ms"),
                                HasSubstr("a hiccup"))));
  EXPECT_THAT(warnings("health_failures: 100\nhealth_interval: 10s\n"),
              ElementsAre(AllOf(StartsWith("tenure.yaml:2:1: "), HasSubstr("= 1000s"))));
}

TEST(HealthSettings, EffectiveIsAFileThatLoadsToTheSame) {
  inputs in = with_file(
      "health_http: http://localhost:8080/ok\nhealth_command: [sh, -c, \"a 'b' \\\"c\\\"\", "
      "'', "
      "-q]\nhealth_file: /run/ok\nhealth_file_age: 90s\nhealth_while: always\n"
      "health_interval: 3s\nhealth_timeout: 250ms\nhealth_failures: 2\nhealth_successes: 4\n"
      "health_delay: 1m\n");
  const configuration first = good(in);
  EXPECT_EQ(first.health.when, settings::health_time::always);
  inputs again = only_file(effective(first));
  again.file->value().name = "again.yaml";
  EXPECT_EQ(good(again).health, first.health) << again.file->value().text;
}

}  // namespace
}  // namespace tenure::config::test
