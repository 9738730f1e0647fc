#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "harness.hpp"
#include "scripted_agent.hpp"

/// How the command line handles what people type: right, mistyped, twice, too few.
namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

finished tenure(const temporary_directory& in, std::vector<std::string> words) {
  words.insert(words.begin(), tenure_binary());
  return run(words, in);
}

struct misuse {
  std::vector<std::string> words;
  std::string says;
};

TEST(Usage, WhatIsWrongIsSaidInOurWordsWithWhatWasMeant) {
  const temporary_directory in;
  for (const misuse& m : {
           misuse{{"statsu"}, "tenure: there is no verb \"statsu\"; did you mean \"status\"?"},
           misuse{{"trasnfer", "b"}, "did you mean \"transfer\"?"},
           misuse{{"frobnicate"}, "there is no verb \"frobnicate\"; see tenure help"},
           misuse{{"--watch"}, "unknown option --watch; see tenure help"},
           misuse{{"help", "exce"}, "did you mean \"exec\"?"},
           misuse{{"status", "--wacth"},
                  "unknown option --wacth; did you mean --watch?\nsee tenure help status\n"},
           misuse{{"status", "--frob"}, "unknown option --frob"},
           misuse{{"status", "-x"}, "unknown option -x"},
           misuse{{"status", "--api"}, "--api needs a value"},
           misuse{{"status", "--api", "--watch"}, "--api needs a value"},
           misuse{{"explain", "--ttl"}, "--ttl needs a value"},
           misuse{{"status", "--watch=yes"}, "--watch takes no value"},
           misuse{{"status", "-o", "yaml"}, "--output is \"yaml\"; use table or json"},
           misuse{{"probe", "readz"}, "PROBE is \"readz\"; did you mean \"readyz\"?"},
           misuse{{"resign", "--aside", "1s", "--aside", "2s"}, "--aside is given twice"},
           misuse{{"status", "a", "b"}, "unexpected \"b\""},
           misuse{{"explain", "--ttl", "15s", "--ttl", "16s"}, "--ttl: ttl is given twice"},
           misuse{{"explain", "--config", "a", "--config", "b"}, "--config is given twice"},
           misuse{{"transfer", "--to", "b", "--to", "c"}, "TO is given twice"},
           misuse{{"history", "--limit", "0"},
                  "--limit is \"0\", out of its range; give 1 to 1000000\n"},
           misuse{{"wait", "--for", "vacant", "--timeout", "5"},
                  "--timeout is \"5\", without a unit; say which unit: \"5s\"\n"},
           misuse{{"resign", "--timeout", "5"}, "without a unit; say which unit: \"5s\"\n"},
           misuse{{"demo", "--ttl", "5"},
                  "--ttl is \"5\", without a unit; say which unit: \"5s\"\n"},
           misuse{{"guard", "--dir", "/d", "--drain", "5", "--", "true"},
                  "say which unit: \"5s\";"},
           misuse{{"transfer"}, "TO is missing: the next holder\nfor example: tenure transfer "},
           misuse{{"status", "--", "ls"}, "takes no command behind --"},
       }) {
    const finished r = tenure(in, m.words);
    EXPECT_EQ(r.status, 2) << m.says;
    EXPECT_THAT(r.err, AllOf(HasSubstr(m.says), Not(HasSubstr("Run with --help"))));
    EXPECT_EQ(r.out, "");
  }
}

TEST(Usage, NothingThatIsRepeatedSteersATerminal) {
  const temporary_directory in;
  for (const char* word : {"\x1b[2J", "--\x1b[2J", "a\u202eb", "\xff"}) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{word}, {"status", word, word}, {"wait", "--for", word}}) {
      const finished r = tenure(in, words);
      for (const std::string steers : {"\x1b", "\u202e", "\xff"}) {
        EXPECT_THAT(r.err, Not(HasSubstr(steers)));
      }
    }
  }
}

TEST(Usage, HelpIsAskedForByWordOrByFlag) {
  const temporary_directory in;
  const finished by_flag = tenure(in, {"status", "--help"});
  EXPECT_EQ(by_flag.status, 0);
  EXPECT_THAT(by_flag.out, HasSubstr("Usage: tenure status [OPTIONS] [ELECTION]\n"));
  EXPECT_EQ(tenure(in, {"status", "-h"}).out, by_flag.out);
  EXPECT_EQ(tenure(in, {"help", "status"}).out, by_flag.out);
  const finished all = tenure(in, {"--help"});
  EXPECT_EQ(all.status, 0);
  EXPECT_EQ(tenure(in, {"help"}).out, all.out);
  EXPECT_EQ(tenure(in, {}).err, all.out) << "without any word it is an error";
  EXPECT_EQ(tenure(in, {}).status, 2);
}

TEST(Usage, EveryHelpFitsATerminalOf80Columns) {
  const temporary_directory in;
  const std::string all = tenure(in, {"--help"}).out;
  std::string every = all;
  std::istringstream lines(all.substr(all.find("Verbs:\n") + 7));
  int verbs = 0;
  for (std::string line; std::getline(lines, line) && line.starts_with("  "); ++verbs) {
    every += tenure(in, {line.substr(2, line.find(' ', 2) - 2), "--help"}).out;
  }
  EXPECT_GT(verbs, 15);
  std::istringstream text(every);
  for (std::string line; std::getline(text, line);) {
    EXPECT_LE(line.size(), 80U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << '"' << line << '"';
  }
}

TEST(Usage, HelpOfExecIsGroupedAndSaysWhatEachSettingAccepts) {
  const temporary_directory in;
  const std::string help = tenure(in, {"exec", "--help"}).out;
  std::istringstream words(help);
  std::string in_one_line;
  for (std::string word; words >> word;) in_one_line += word + " ";
  EXPECT_THAT(help, HasSubstr("Usage: tenure exec [OPTIONS] -- COMMAND [ARGUMENTS...]\n"));
  for (const char* group : {"\nStore:\n", "\nTime budget:\n", "\nHTTP:\n", "\nExit statuses:\n"}) {
    EXPECT_THAT(help, HasSubstr(group));
  }
  EXPECT_THAT(in_one_line, HasSubstr("(sqlite, etcd, consul or kubernetes)"));
  EXPECT_THAT(in_one_line, HasSubstr("(standby or exit)"));
  EXPECT_THAT(in_one_line, HasSubstr("(1s to 24h)"));
  EXPECT_THAT(help, Not(HasSubstr("zookeeper")));
}

TEST(Usage, ShortFlagsAreThoseThatPeopleTryFirst) {
  const temporary_directory in;
  scripted_agent agent;
  for (const std::vector<std::string>& form :
       {std::vector<std::string>{"-o", "json"}, {"-ojson"}, {"-o=json"}, {"--output=json"}}) {
    std::vector<std::string> words{"status", "--api", agent.api()};
    words.insert(words.end(), form.begin(), form.end());
    const finished r = tenure(in, words);
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_THAT(r.out, testing::StartsWith("{\"election\":"));
  }
  program watch({tenure_binary(), "status", "-w", "--api", agent.api()}, in / "watch");
  EXPECT_TRUE(eventually([&] { return agent.asked_for("index=1 wait=") == 1; })) << watch.err();
}

TEST(Usage, TheHeirOfATransferIsAWordOrAFlag) {
  const temporary_directory in;
  scripted_agent agent;
  for (const std::vector<std::string>& form :
       {std::vector<std::string>{"b", "db"}, {"--to", "b", "db"}, {"db", "--to", "b"}}) {
    std::vector<std::string> words{"transfer"};
    words.insert(words.end(), form.begin(), form.end());
    words.insert(words.end(), {"--no-wait", "--api", agent.api()});
    EXPECT_EQ(tenure(in, words).status, 0) << tenure(in, words).err;
  }
  EXPECT_EQ(agent.asked_for("POST /v1/elections/db/transfer host=127.0.0.1"), 3U);
  EXPECT_EQ(agent.asked_for("{\"to\":\"b\"}"), 3U);
}

}  // namespace
}  // namespace tenure::tests
