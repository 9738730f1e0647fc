#include "support.hpp"

namespace tenure::config::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using tests::expect_golden;
using namespace std::chrono_literals;

TEST(ConfigFile, GivesEverySetting) {
  const configuration s = good(only_file(R"(
store: sqlite
endpoint: /var/lib/tenure/t.db
elections:
  - orders
  - {name: reports, slots: 3}
slots: 2
identity: node-1
observe: true
ttl: 30s
renew: 5s
grace: 3s
kill_budget: 1s
lock_delay: 2s
drift: 0.5%
drain: 1m
stop_signal: SIGQUIT
on_lost: exit
listen: off
probe_listen: "[::]:9000"
log_format: json
log_level: debug
)"));
  EXPECT_EQ(s.store, "sqlite");
  EXPECT_THAT(s.endpoints, ElementsAre("/var/lib/tenure/t.db"));
  EXPECT_THAT(s.elections, ElementsAre(election{"orders", 2}, election{"reports", 3}));
  EXPECT_EQ(s.identity, "node-1");
  EXPECT_TRUE(s.observe);
  EXPECT_EQ(s.timing.ttl, 30s);
  EXPECT_EQ(s.timing.renew, 5s);
  EXPECT_EQ(s.timing.grace, 3s);
  EXPECT_EQ(s.timing.kill_budget, 1s);
  EXPECT_EQ(s.timing.lock_delay, 2s);
  EXPECT_EQ(s.timing.drift_ppm, 5000U);
  EXPECT_EQ(s.timing.drain, 60s);
  EXPECT_EQ(signal_name(s.stop_signal), "QUIT");
  EXPECT_EQ(s.on_lost, core::after_loss::exit);
  EXPECT_FALSE(s.listen.at);
  EXPECT_EQ(text(s.probe_listen), "[::]:9000");
  EXPECT_EQ(s.log_format, log_format::json);
  EXPECT_EQ(s.log_level, log_level::debug);
}

TEST(ConfigFile, ProblemsHaveLineAndColumn) {
  struct row {
    const char* text;
    const char* problem;
  };
  for (
      const row& r : {
          row{"ttl: 15s\ntll: 2s\n",
              R"(tenure.yaml:2:1: unknown setting "tll"; did you mean "ttl"?)"},
          row{"kill-budget: 1s\n",
              R"(tenure.yaml:1:1: unknown setting "kill-budget"; did you mean "kill_budget"?)"},
          row{"killBudget: 1s\n",
              R"(tenure.yaml:1:1: unknown setting "killBudget"; did you mean "kill_budget"?)"},
          row{"ttl: 15\n",
              R"(tenure.yaml:1:6: ttl is "15", without a unit; say which unit: "15s")"},
          row{"ttl:   2 s\n", R"(tenure.yaml:1:8: ttl is "2 s", with a blank in it; write "2s")"},
          row{"ttl: {a: b}\n", "tenure.yaml:1:6: ttl is a mapping; give a duration, such as 15s"},
          row{"ttl: [1s]\n", "tenure.yaml:1:6: ttl is a list; give a duration, such as 15s"},
          row{"ttl:\nslots: 1\n",
              "tenure.yaml:1:1: ttl has no value; give one, or remove the line"},
          row{"ttl: 1s\nslots: 1\nttl: 2s\n",
              "tenure.yaml:3:1: ttl is given twice, first in line 1; remove one"},
          row{"on_lost: standbye\n",
              R"(tenure.yaml:1:10: on_lost is "standbye", which is unknown; did you mean "standby"?)"},
          row{"log_level: verbose\n",
              R"(tenure.yaml:1:12: log_level is "verbose", which is unknown; give debug, info, warn or error)"},
          row{"stop_signal: KILL\n",
              R"(tenure.yaml:1:14: stop_signal is "KILL", which a process cannot answer by ending in order; give TERM, INT, QUIT, HUP, USR1, USR2, WINCH or PWR; SIGKILL follows by itself)"},
          row{"stop_signal: term\n",
              R"(tenure.yaml:1:14: stop_signal is "term", which cannot be used as a stop signal; did you mean "TERM"?)"},
          row{"observe: yes\n",
              R"(tenure.yaml:1:10: observe is "yes", which is neither true nor false; write true)"},
          row{"observe: \"true\"\n",
              "tenure.yaml:1:10: observe is text; write true without quotes"},
          row{"slots: '3'\n", "tenure.yaml:1:8: slots is text; write 3 without quotes"},
          row{"slots: 0\n", R"(tenure.yaml:1:8: slots is "0", out of its range; give 1 to 1000)"},
          row{"priority: -1000001\n",
              R"(tenure.yaml:1:11: priority is "-1000001", out of its range; give -1000000 to 1000000)"},
          row{"priority: high\n",
              R"(tenure.yaml:1:11: priority is "high", which is not a whole number; give -1000000 to 1000000)"},
          row{"priority: '-3'\n", "tenure.yaml:1:11: priority is text; write -3 without quotes"},
          row{"election: 5\n",
              R"(tenure.yaml:1:11: election is 5, which YAML takes for a number; write it in quotes: "5")"},
          row{"identity: 1e3\n",
              R"(tenure.yaml:1:11: identity is 1e3, which YAML takes for a number; write it in quotes: "1e3")"},
          row{"election: [a, b]\n",
              R"(tenure.yaml:1:11: election is a list; give one name, or use "elections" for a list)"},
          row{"elections: a\n",
              "tenure.yaml:1:12: elections is text; give a list of names or of {name: NAME, "
              "slots: N}"},
          row{"elections: []\n", "tenure.yaml:1:1: elections is an empty list; give at least one"},
          row{"elections: [{slots: 2}]\n",
              "tenure.yaml:1:13: elections has an entry without a name; add one"},
          row{"elections:\n  - name: a\n    slot: 2\n",
              R"(tenure.yaml:3:5: unknown setting of an election "slot"; did you mean "slots"?)"},
          row{"elections:\n  - name: a\n    slots: 1001\n",
              R"(tenure.yaml:3:12: slots is "1001", out of its range; give 1 to 1000)"},
          row{"elections:\n  - name: a\n    name: b\n",
              "tenure.yaml:3:5: name is given twice, first in line 2; remove one"},
          row{"endpoint: []\n", "tenure.yaml:1:1: endpoint is an empty list; give at least one"},
          row{"[a]: b\n", "tenure.yaml:1:1: a list stands where the name of a setting should"},
          row{"- ttl: 1s\n",
              "tenure.yaml:1:1: the file holds a list, not settings; write them as \"store: "
              "sqlite\", one a line"},
          row{"just words\n",
              "tenure.yaml:1:1: the file holds text, not settings; write them as \"store: "
              "sqlite\", one a line"},
      }) {
    EXPECT_THAT(problems_of(with_file(r.text)), ElementsAre(r.problem)) << r.text;
  }
}

TEST(ConfigFile, AllProblemsComeAtOnceInTheOrderOfTheFile) {
  expect_golden(problems_of(with_file("tll: 1s\nslots: none\nlog_level: loud\n")));
}

TEST(ConfigFile, SyntaxErrorsHaveLineAndColumn) {
  struct row {
    const char* text;
    const char* problem;
  };
  for (const row& r : {
           row{"ttl: 15s\nlisten: [a\n", "tenure.yaml:3:1: a [ is never closed by ]"},
           row{"ttl: 15s\nelections: [{name: a\n", "a { is never closed by }"},
           row{"ttl: 15s\n  slots: 1\n",
               "tenure.yaml:2:8: a value stands where none can; is the line indented like the one "
               "above, and is a text with a colon in it in quotes?"},
           row{"ttl: 15s\nlisten: a: b\n", "tenure.yaml:2:10: a value stands where none can"},
           row{"ttl: 15s\nlisten: ]\n", "tenure.yaml:2:9: this ] or } has no [ or { to close"},
           row{"ttl: 15s\nlisten: @a\n", "tenure.yaml:2:9: no value begins with this character"},
           row{"ttl: 15s\nlisten: \"\\q\"\n", "what follows a backslash in double quotes"},
           row{"ttl: 15s\nlisten: *a\n", "tenure.yaml:2:9: nothing is marked with & by this name"},
       }) {
    const auto all = problems_of(with_file(r.text));
    EXPECT_THAT(all, ElementsAre(HasSubstr(r.problem))) << r.text;
    EXPECT_THAT(all, ElementsAre(StartsWith("tenure.yaml:"))) << r.text;
  }
}

TEST(ConfigFile, AQuoteThatIsNotClosedOnItsLineSwallowsNoSettings) {
  for (const char* text : {
           "endpoint: \"/tmp/a.db\nttl: 3s\nslots: 2\n",
           "endpoint: '/tmp/a.db\nttl: 3s\nslots: 2\n",
           "endpoint: 'it''s\nttl: 3s\n",
           "endpoint: \"a\\\"\nttl: 3s\n",
           "ttl: 15s\nlisten: \"a",
           "ttl: 15s\r\nlisten: \"a\r\n",
           "\xef\xbb\xbfgrace: &short \"1s\nttl: 15s\n",
           "grace: &short\n  \"1s\nttl: 15s\n",
           "listen: \"a\\\n",
           "ttl: 15s\n\"listen: off\nslots: 1\n",
           "elections: [\"a, b]\nttl: 3s\n",
           "endpoint: \"a\n---\nttl: 3s\n",
           "\nendpoint: \"a\n---\nttl: 3s\n",
           "\n\nendpoint: \"a\n...\nttl: 3s\n",
           "# \xc3\xa9, 'it's\nendpoint: \"a\n...\n",
       }) {
    expect_golden(problems_of(with_file(text)));
  }
  for (const char* text : {
           "endpoint: \"a\nttl: \"3s\"\n",
           "endpoint: 'a\n  b'\nttl: 3s\n",
           "endpoint: \"a\\\n  b\"\nttl: 3s\n",
           "elections:\n  - \"a\n  - \"b\"\n",
       }) {
    expect_golden(problems_of(with_file(text)));
  }
}

TEST(ConfigFile, QuotesThatAreClosedOrAreNoneAreTaken) {
  const configuration s =
      good(with_file("\"grace\": &g \"1s\"  # it's a comment\r\n"
                     "lock_delay: '1s'\ngain_command: [a, \"b \\\" ' c\", 'it''s',\n"
                     "  it's]\ngain_file: >-\n  /tmp/it's\n"));
  EXPECT_EQ(s.timing.lock_delay, 1s);
}

TEST(ConfigFile, TabsAsIndentationAreNamed) {
  expect_golden(problems_of(with_file("elections:\n\t- db\n")));
}

TEST(ConfigFile, ThatCouldNotBeReadIsTheOnlyThingSaidOfIt) {
  // What is missing may well be in it.
  inputs in = only_file("store: [\n");
  EXPECT_THAT(problems_of(in), SizeIs(1));
  in.file = std::unexpected(problem{"tenure.yaml", "the file cannot be read: reason", ""});
  expect_golden(problems_of(in));
}

TEST(ConfigFile, WithoutADocumentIsRefused) {
  for (const char* text : {"", "\n\n", "# only a comment\n"}) {
    expect_golden(problems_of(with_file(text)));
  }
  expect_golden(problems_of(with_file("---\n")));
}

TEST(ConfigFile, WithTwoDocumentsIsRefused) {
  expect_golden(problems_of(with_file("ttl: 15s\n---\nttl: 2s\n")));
  EXPECT_THAT(problems_of(with_file("---\nttl: 15s\n...\n")), IsEmpty());
}

TEST(ConfigFile, AnchorsWorkButTagsAndMergesDoNot) {
  const configuration s = good(with_file("grace: &short 1s\nlock_delay: *short\n"));
  EXPECT_EQ(s.timing.lock_delay, 1s);
  expect_golden(problems_of(with_file("ttl: !!str 15s\n")));
  expect_golden(problems_of(with_file("<<: {ttl: 15s}\n")));
  expect_golden(problems_of(with_file("elections: &a [*a]\n")));
}

TEST(ConfigFile, NestedAliasesCostNoMoreThanTheirText) {
  // The "billion laughs": expanded, the last line would hold 10^9 items.
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string one = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + one;
    for (int n = 1; n < 10; ++n) text += ", " + one;
    text += "]\n";
  }
  text += "elections: *a8\n";
  const auto problems = problems_of(with_file(text));
  EXPECT_THAT(problems, SizeIs(9 + 10)) << "nine unknown settings, ten items that are no names";
}

TEST(ConfigFile, NestingIsLimited) {
  const auto nested = [](std::size_t levels) {
    // The mapping at the top is a level too.
    return "x: " + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "\n";
  };
  expect_golden(problems_of(with_file(nested(max_nesting))));
  expect_golden(problems_of(with_file(nested(max_nesting + 1))));
  expect_golden(problems_of(with_file(nested(100'000))));
}

TEST(ConfigFile, OfAnUnknownKeyTheNearestAreNamedAndNotAll) {
  const auto problems = problems_of(with_file("stopping: 1\n"));
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems.front(), HasSubstr("unknown setting \"stopping\"; among the "));
  EXPECT_THAT(problems.front(), HasSubstr("`tenure help agent` has all"));
  EXPECT_LT(problems.front().size(), 200U) << problems.front();
}

TEST(ConfigFile, NothingElseIsSaidOfASettingThatIsMisspelt) {
  expect_golden(problems_of(only_file("store: etcd\nendpiont: http://a\nelection: db\n")));
}

TEST(ConfigFile, ANulByteIsNamedAsOne) {
  using namespace std::string_literals;
  expect_golden(problems_of(with_file("ttl: 15s\ngrace: \0"s + "1s\n")));
}

/// As Windows writes text by default.
TEST(ConfigFile, MayBeInUtf16) {
  using namespace std::string_literals;
  std::string wide = "\xff\xfe"s;
  for (const char one : "ttl: 15s\n"s) wide.append({one, '\0'});
  EXPECT_THAT(problems_of(with_file(wide)), IsEmpty());
}

TEST(ConfigFile, SizeIsLimited) {
  const std::string good_part = "ttl: 15s\n#";
  std::string text = good_part + std::string(max_file_bytes - good_part.size(), 'x');
  EXPECT_THAT(problems_of(with_file(text)), IsEmpty());
  expect_golden(problems_of(with_file(text + "x")));
}

TEST(ConfigFile, ManyProblemsAreCountedNotListed) {
  std::string text;
  for (std::size_t i = 0; i < max_problems + 7; ++i)
    text += "nonsense" + std::to_string(i) + ": 1\n";
  const auto problems = problems_of(with_file(text));
  ASSERT_THAT(problems, SizeIs(max_problems + 1));
  EXPECT_EQ(problems.back(), "there are 7 more problems; correct these first");
}

}  // namespace
}  // namespace tenure::config::test
